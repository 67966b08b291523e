"""Node2Vec of PyTorch Geometric on the CPU, trained as in its example.

Its walks are those of torch-cluster, which is compiled when the environment is made: some minutes.
Newer versions than 2.6 need pyg-lib instead, which the package index does not have.
"""

from __future__ import annotations

import numpy as np
import torch
from racing import finish, options, stage
from torch_geometric.nn import Node2Vec

torch.manual_seed(options.seed)
torch.set_num_threads(options.threads)
with stage("read"):
    edges = np.loadtxt(options.edges, np.int64)
    ids, numbers = np.unique(edges, return_inverse=True)
    pairs = torch.from_numpy(numbers.reshape(-1, 2).T)
    both = torch.cat([pairs, pairs.flip(0)], dim=1)
with stage("train"):  # walks are made by its loader while training
    model = Node2Vec(
        both,
        embedding_dim=options.dimensions,
        walk_length=options.length - 1,  # it counts steps
        context_size=options.window,
        walks_per_node=options.walks,
        num_negative_samples=1,
        sparse=True,
    )
    optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
    model.train()
    for positive, negative in model.loader(batch_size=128, shuffle=True):
        optimizer.zero_grad()
        loss = model.loss(positive, negative)
        loss.backward()
        optimizer.step()
finish(ids, model().detach().numpy())
