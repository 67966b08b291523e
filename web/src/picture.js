export async function picture() {}
