/** What texts mean, as vectors that are stored and compared. */
import { embed, type Model, similarity } from './adapter.ts'

/** A model that embeds. */
export interface Embedder extends Model {
  /** What its vectors are known by. */
  id: string
  /** What people know it by. */
  name: string
}

/** Half as long as they arrive, and as good for comparisons. */
export const packed = (vector: Float32Array): Buffer =>
  Buffer.from(Float16Array.from(vector).buffer)

/** The numbers of a vector that is stored. */
function unpacked(bytes: Buffer): Float32Array {
  // A copy, because numbers begin at even places of memory.
  const { buffer } = new Uint8Array(bytes)
  return Float32Array.from(new Float16Array(buffer))
}

/** How alike a question and each of these stored vectors are, from -1 to 1. Undefined for vectors of another length. */
export async function compare(
  embedder: Embedder,
  question: string,
  vectors: Buffer[],
): Promise<(number | undefined)[]> {
  const [asked] = await embed(embedder, [question])
  return vectors.map((bytes) => {
    const vector = unpacked(bytes)
    return asked?.length === vector.length ? similarity(asked, vector) : undefined
  })
}
