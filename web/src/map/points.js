// Draws points with WebGL 2: a colour and a shape for each, from a small table of looks.

import { FIELD, FIELD_REACH, distanceField, reachOf } from "./shapes.js";

const VERTEX = `#version 300 es
precision highp float;
precision highp int;
in vec2 place;
in uint code;
in float size;
uniform vec2 middle, rest; // of the view: its sum has more digits than one float
uniform vec2 unit; // of the map, in clip space
uniform vec2 diameters; // of the smallest and the largest point, in device pixels
uniform float rim, opacity;
uniform highp usampler2D looks; // two texels for each: colour and opacity; shape and reach
flat out vec4 colour;
flat out float shape, diameter, extent;

void main() {
  ivec2 at = ivec2(int(code & 255u), 2 * int(code >> 8u));
  uvec4 form = texelFetch(looks, at + ivec2(0, 1), 0);
  colour = vec4(texelFetch(looks, at, 0)) / 255.0;
  colour.a *= opacity;
  shape = float(form.x);
  diameter = mix(diameters.x, diameters.y, size);
  extent = diameter * float(form.y) / 100.0 + 2.0 * rim + 1.0;
  gl_Position = vec4(((place - middle) - rest) * unit, 0.0, 1.0);
  gl_PointSize = extent;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
precision highp sampler2DArray;
flat in vec4 colour;
flat in float shape, diameter, extent;
uniform float rim;
uniform vec3 paper;
uniform sampler2DArray fields;
out vec4 pixel;

void main() {
  vec2 away = (gl_PointCoord - 0.5) * extent / (0.5 * diameter); // from the middle, in radii
  float field = texture(fields, vec3(0.5 + away / ${(2 * FIELD_REACH).toFixed(1)}, shape)).r;
  float outside = (0.5 - field) * diameter; // pixels beyond the edge
  float covered = clamp(0.5 + rim - outside, 0.0, 1.0);
  if (covered == 0.0) discard;
  float inner = rim > 0.0 ? clamp(0.5 - outside, 0.0, 1.0) : 1.0;
  float alpha = covered * colour.a;
  pixel = vec4(mix(paper, colour.rgb, inner) * alpha, alpha);
}`;

const TILE = 256; // looks in a line of their texture
const UNIFORMS = [...["middle", "rest", "unit", "diameters", "rim", "opacity", "looks", "paper", "fields"]];

/** Whether this browser can draw the points. */
export function canDraw() {
  const gl = document.createElement("canvas").getContext("webgl2");
  gl?.getExtension("WEBGL_lose_context")?.loseContext(); // it is no longer needed
  return Boolean(gl);
}

/** The points of a map on a canvas. What it is given is kept: a lost context is made again. */
export class Points {
  /** `outlines` are those of the shapes; `restored` is called when a lost context is back. */
  constructor(canvas, x, y, outlines, restored) {
    this.canvas = canvas;
    this.outlines = outlines;
    this.order = shuffled(x.length); // a part of the points is a sample of them
    this.places = new Float32Array(2 * x.length);
    this.order.forEach((row, i) => {
      this.places[2 * i] = x[row];
      this.places[2 * i + 1] = y[row];
    });
    this.codes = new Uint16Array(x.length);
    this.sizes = new Uint8Array(x.length);
    this.table = new Uint8Array(0); // the looks
    this.layers = []; // {indices, faint}, in the order in which they are drawn
    this.gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true });
    this.setUp();
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => {
      this.setUp();
      restored();
    });
  }

  setUp() {
    const { gl } = this;
    const program = gl.createProgram();
    const shaders = [
      [gl.VERTEX_SHADER, VERTEX],
      [gl.FRAGMENT_SHADER, FRAGMENT],
    ];
    for (const [kind, source] of shaders) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["place", "code", "size"].forEach((name, i) => gl.bindAttribLocation(program, i, name));
    gl.linkProgram(program);
    if (!gl.isContextLost() && !gl.getProgramParameter(program, gl.LINK_STATUS))
      throw Error(`WebGL cannot link the program: ${gl.getProgramInfoLog(program)}`);
    gl.useProgram(program);
    this.at = Object.fromEntries(UNIFORMS.map((name) => [name, gl.getUniformLocation(program, name)]));
    this.buffers = [gl.createBuffer(), gl.createBuffer(), gl.createBuffer(), gl.createBuffer()];
    this.upload(0, this.places);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    this.upload(1, this.codes);
    gl.vertexAttribIPointer(1, 1, gl.UNSIGNED_SHORT, 0, 0);
    this.upload(2, this.sizes);
    gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, true, 0, 0);
    for (const attribute of [0, 1, 2]) gl.enableVertexAttribArray(attribute);
    this.setUpFields();
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.uniform1i(this.at.looks, 0);
    this.uploadLooks();
    this.uploadLayers();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); // colours are multiplied by their opacity
  }

  /** A layer of texture for each shape. */
  setUpFields() {
    const { gl } = this;
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, gl.createTexture());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    const texels = new Uint8Array(FIELD * FIELD * this.outlines.length);
    this.outlines.forEach((points, i) => texels.set(distanceField(points), i * FIELD * FIELD));
    const form = [FIELD, FIELD, this.outlines.length, 0, gl.RED, gl.UNSIGNED_BYTE];
    gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.R8, ...form, texels);
    for (const [name, value] of [
      [gl.TEXTURE_MIN_FILTER, gl.LINEAR],
      [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
      [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
    ])
      gl.texParameteri(gl.TEXTURE_2D_ARRAY, name, value);
    gl.uniform1i(this.at.fields, 1);
  }

  upload(buffer, values) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[buffer]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  }

  uploadLooks() {
    const { gl, table } = this;
    if (!table.length) return;
    const form = [TILE, table.length / 4 / TILE, 0, gl.RGBA_INTEGER, gl.UNSIGNED_BYTE];
    gl.activeTexture(gl.TEXTURE0);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8UI, ...form, table);
  }

  uploadLayers() {
    const { gl } = this;
    const all = new Uint32Array(this.layers.reduce((sum, { indices }) => sum + indices.length, 0));
    let from = 0;
    for (const { indices } of this.layers) {
      all.set(indices, from);
      from += indices.length;
    }
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.buffers[3]);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, all, gl.DYNAMIC_DRAW);
  }

  /** Give each row its look, as {colour, shape, alpha}, and its size from 0 to 1 (null: all 0). */
  paint(codes, looks, size) {
    this.order.forEach((row, i) => {
      this.codes[i] = codes[row];
      this.sizes[i] = size ? Math.round(Math.min(Math.max(size[row], 0), 1) * 255) : 0;
    });
    this.table = new Uint8Array(8 * TILE * Math.ceil(looks.length / TILE));
    looks.forEach(({ colour, shape = 0, alpha = 1 }, i) => {
      const at = 4 * ((i % TILE) + 2 * TILE * Math.floor(i / TILE));
      this.table.set([...channels(colour), Math.round(255 * alpha)], at);
      const reach = Math.ceil(100 * reachOf(this.outlines[shape]));
      this.table.set([shape, reach, 0, 0], at + 4 * TILE);
    });
    this.upload(1, this.codes);
    this.upload(2, this.sizes);
    this.uploadLooks();
  }

  /** Decide what is drawn, and over what: `layerOf` returns the layer of a row, -1 for none. */
  arrange(layerOf, faint) {
    const counts = faint.map(() => 0);
    const layers = new Int8Array(this.order.length);
    this.order.forEach((row, i) => {
      layers[i] = layerOf(row);
      if (layers[i] >= 0) counts[layers[i]]++;
    });
    this.layers = faint.map((share, i) => ({ indices: new Uint32Array(counts[i]), faint: share }));
    counts.fill(0);
    layers.forEach((layer, i) => {
      if (layer >= 0) this.layers[layer].indices[counts[layer]++] = i;
    });
    this.uploadLayers();
  }

  /**
   * Draw the points as the camera sees them. `style` has the diameters of the smallest and the
   * largest point, their rim and opacity, the colour of the paper, and which share to draw.
   */
  draw(camera, ratio, { diameters, rim, opacity, paper, share }) {
    const { gl, at, canvas } = this;
    const [width, height] = [camera.width, camera.height].map((side) => Math.round(side * ratio));
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const middle = [Math.fround(camera.x), Math.fround(camera.y)];
    gl.uniform2f(at.middle, ...middle);
    gl.uniform2f(at.rest, camera.x - middle[0], camera.y - middle[1]);
    gl.uniform2f(at.unit, (2 * camera.scale) / camera.width, (2 * camera.scale) / camera.height);
    gl.uniform2f(at.diameters, diameters[0] * ratio, diameters[1] * ratio);
    gl.uniform1f(at.rim, rim * ratio);
    gl.uniform3f(at.paper, ...channels(paper).map((value) => value / 255));
    let from = 0;
    for (const { indices, faint } of this.layers) {
      gl.uniform1f(at.opacity, opacity * faint);
      const count = Math.ceil(indices.length * share);
      gl.drawElements(gl.POINTS, count, gl.UNSIGNED_INT, 4 * from);
      from += indices.length;
    }
  }

  /** Wait until all is drawn. */
  finish() {
    this.gl.readPixels(0, 0, 1, 1, this.gl.RGBA, this.gl.UNSIGNED_BYTE, new Uint8Array(4));
  }
}

/** All rows in an order without meaning, the same each time (Fisher and Yates). */
function shuffled(count) {
  const order = Uint32Array.from({ length: count }, (_, row) => row);
  let state = 1;
  for (let i = count - 1; i > 0; i--) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const other = Math.floor((state / 2 ** 32) * (i + 1));
    [order[i], order[other]] = [order[other], order[i]];
  }
  return order;
}

/** Red, green and blue of #rrggbb, from 0 to 255. */
const channels = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
