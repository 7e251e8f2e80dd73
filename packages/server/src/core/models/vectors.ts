/** What texts mean, as vectors that are stored and compared. */
import { type Model, similarity } from './adapter.ts'

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

/** How alike a question and a stored vector are, from -1 to 1. Undefined if the vector has another length. */
export function likeness(asked: Float32Array, bytes: Buffer): number | undefined {
  const vector = unpacked(bytes)
  return asked.length === vector.length ? similarity(asked, vector) : undefined
}
