/**
 * Finds the words of all lists in one pass over a text (Aho-Corasick). Nodes have numbers, and the edges of all nodes
 * are in one hash table, so that 10,000 words take a few megabytes.
 */

export interface Found {
  /** Number of the word. */
  word: number
  start: number
  end: number
}

const WORD_CHARACTER = /[\p{L}\p{N}\p{M}]/u
/** Scripts that write words without spaces between them. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u

/** Steps of work after which others get their turn. */
const TURN = 20_000

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))

export class Words {
  readonly #lengths: number[]
  /** Open addressing: the node an edge leaves, its character, the node it reaches. */
  #from = new Int32Array(0)
  #by = new Uint16Array(0)
  #to = new Int32Array(0)
  #mask = 0
  /** The edges that leave the root, by ASCII character: where most characters of most texts are looked up. */
  readonly #first = new Int32Array(128)
  #nodes = 1
  /** Where to go on if no edge fits; the next shorter word that ends here; the word that ends here, or -1. */
  #fail = new Int32Array(1)
  #shorter = new Int32Array(1)
  #word = new Int32Array(1).fill(-1)

  private constructor(words: readonly string[]) {
    this.#lengths = words.map((word) => word.length)
  }

  /** The words must be different. */
  static async of(words: readonly string[]): Promise<Words> {
    const built = new Words(words)
    await built.#build(words)
    return built
  }

  get bytes(): number {
    const arrays = [this.#from, this.#by, this.#to, this.#fail, this.#shorter, this.#word]
    return arrays.reduce((sum, { byteLength }) => sum + byteLength, this.#lengths.length * 8)
  }

  /** Every whole word in the text, as `entryForm` or `wordForms` made it. */
  *find(text: string): Generator<Found> {
    if (this.#lengths.length === 0) return
    let node = 0
    for (let at = 0; at < text.length; at++) {
      node = this.#step(node, text.charCodeAt(at))
      if (node === 0) continue
      let ends = this.#word[node] === -1 ? (this.#shorter[node] ?? 0) : node
      while (ends !== 0) {
        const word = this.#word[ends] ?? -1
        const start = at + 1 - (this.#lengths[word] ?? 0)
        if (isWhole(text, start, at + 1)) yield { word, start, end: at + 1 }
        ends = this.#shorter[ends] ?? 0
      }
    }
  }

  #step(from: number, character: number): number {
    let node = from
    while (node !== 0) {
      const next = this.#edge(node, character)
      if (next !== 0) return next
      node = this.#fail[node] ?? 0
    }
    return character < 128 ? (this.#first[character] ?? 0) : this.#edge(0, character)
  }

  #slot(node: number, character: number): number {
    let slot = (Math.imul(node, 0x9e3779b1) ^ Math.imul(character, 0x85ebca6b)) >>> 7
    for (;;) {
      slot &= this.#mask
      if (this.#to[slot] === 0) return slot
      if (this.#from[slot] === node && this.#by[slot] === character) return slot
      slot++
    }
  }

  #edge(node: number, character: number): number {
    return this.#to[this.#slot(node, character)] ?? 0
  }

  async #build(words: readonly string[]): Promise<void> {
    const characters = words.reduce((sum, { length }) => sum + length, 0)
    const slots = 2 ** Math.ceil(Math.log2(characters * 2 + 2))
    this.#mask = slots - 1
    this.#from = new Int32Array(slots)
    this.#by = new Uint16Array(slots)
    this.#to = new Int32Array(slots)
    const ends = new Int32Array(characters + 1).fill(-1)
    let work = 0
    for (const [number, word] of words.entries()) {
      let node = 0
      for (let at = 0; at < word.length; at++) node = this.#grow(node, word.charCodeAt(at))
      ends[node] = number
      work += word.length
      if (work > TURN) {
        work = 0
        await nextTurn()
      }
    }
    this.#word = ends.slice(0, this.#nodes)
    for (let character = 0; character < 128; character++)
      this.#first[character] = this.#edge(0, character)
    this.#fail = new Int32Array(this.#nodes)
    this.#shorter = new Int32Array(this.#nodes)
    await this.#link()
  }

  #grow(node: number, character: number): number {
    const slot = this.#slot(node, character)
    if (this.#to[slot] === 0) {
      this.#from[slot] = node
      this.#by[slot] = character
      this.#to[slot] = this.#nodes++
    }
    return this.#to[slot] ?? 0
  }

  /** Breadth first, because a node's links lead to nodes nearer to the root. */
  async #link(): Promise<void> {
    const edges = this.#edgesByNode()
    const queue = new Int32Array(this.#nodes)
    let last = 1
    for (let first = 0; first < last; first++) {
      const node = queue[first] ?? 0
      for (let n = edges.start[node] ?? 0; n < (edges.start[node + 1] ?? 0); n++) {
        const slot = edges.slots[n] ?? 0
        const next = this.#to[slot] ?? 0
        queue[last++] = next
        if (node === 0) continue
        const fail = this.#step(this.#fail[node] ?? 0, this.#by[slot] ?? 0)
        this.#fail[next] = fail
        this.#shorter[next] = this.#word[fail] === -1 ? (this.#shorter[fail] ?? 0) : fail
      }
      if (first % TURN === TURN - 1) await nextTurn()
    }
  }

  /** The slots of the edges that leave each node: those of node n are `slots[start[n]]` up to `slots[start[n + 1]]`. */
  #edgesByNode(): { start: Int32Array; slots: Int32Array } {
    const start = new Int32Array(this.#nodes + 1)
    for (let slot = 0; slot <= this.#mask; slot++) {
      if (this.#to[slot] !== 0) add(start, (this.#from[slot] ?? 0) + 1, 1)
    }
    for (let node = 0; node < this.#nodes; node++) add(start, node + 1, start[node] ?? 0)
    const slots = new Int32Array(this.#nodes)
    const filled = start.slice()
    for (let slot = 0; slot <= this.#mask; slot++) {
      if (this.#to[slot] !== 0) slots[add(filled, this.#from[slot] ?? 0, 1)] = slot
    }
    return { start, slots }
  }
}

/** Returns what the number was before. */
function add(numbers: Int32Array, at: number, more: number): number {
  const before = numbers[at] ?? 0
  numbers[at] = before + more
  return before
}

/** Whether no letter or digit continues the word. Scripts without spaces show no such limits. */
export function isWhole(text: string, start: number, end: number): boolean {
  const first = String.fromCodePoint(text.codePointAt(start) ?? 0)
  const last = characterBefore(text, end)
  const before = characterBefore(text, start)
  const after = end < text.length ? String.fromCodePoint(text.codePointAt(end) ?? 0) : ''
  return !continues(first, before) && !continues(last, after)
}

const continues = (edge: string, beyond: string) =>
  WORD_CHARACTER.test(edge) && WORD_CHARACTER.test(beyond) && !UNSPACED.test(edge)

function characterBefore(text: string, at: number): string {
  if (at <= 0) return ''
  const unit = text.charCodeAt(at - 1)
  const isLow = unit >= 0xdc00 && unit <= 0xdfff
  return text.slice(isLow && at > 1 ? at - 2 : at - 1, at)
}
