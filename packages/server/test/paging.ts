/** Reads a list in every way that pages can be requested, and compares it with the records that it should contain. */
import assert from 'node:assert/strict'
import type { Draw } from '../src/fill/names.ts'

/** Totals of filtered lists are exact up to this number. */
export const CAP = 10_000

export interface Pagination {
  total: number
  count: number
  per_page: number
  current_page: number
  total_pages: number
  total_capped?: true
}

interface Answer {
  ids: string[]
  pagination: Pagination
  next: string | undefined
}

export interface ExpectedList {
  /** Requests a page: `page=2&perPage=7`. */
  read(query: string): Promise<Answer>
  /** The ids of all its records, in order. */
  expected: string[]
  perPage: number
}

/** Every page: first by number from the last to the first, so that none continues another, then in order, then by cursor. */
export async function assertAllPages(list: ExpectedList): Promise<void> {
  const last = Math.ceil(list.expected.length / list.perPage)
  for (let page = last + 1; page > 0; page--) await assertPage(list, page)
  await assertLoop(list)
  await assertCursors(list, last)
}

/** The first page, the second by cursor, and one that nobody has paged to. */
export async function assertSomePages(list: ExpectedList, draw: Draw): Promise<void> {
  const last = Math.ceil(list.expected.length / list.perPage)
  await assertPage(list, 2 + draw(last || 1))
  await assertCursors(list, 2)
}

/** What a client does that knows only page numbers. */
async function assertLoop(list: ExpectedList): Promise<void> {
  const found: string[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const { ids, pagination } = await assertPage(list, page)
    found.push(...ids)
    pages = pagination.total_pages
  }
  assert.deepEqual(found, list.expected)
}

async function assertCursors(list: ExpectedList, most: number): Promise<void> {
  let cursor: string | undefined
  for (let page = 1; page <= Math.max(most, 1); page++) {
    const query = cursor === undefined ? '' : `cursor=${cursor}&`
    const answer: Answer = await list.read(`${query}perPage=${list.perPage}`)
    assertAnswer(list, page, answer)
    cursor = answer.next
    assert.equal(cursor === undefined, page * list.perPage >= list.expected.length, 'a next cursor')
    if (cursor === undefined) return
  }
}

async function assertPage(list: ExpectedList, page: number): Promise<Answer> {
  const answer = await list.read(`page=${page}&perPage=${list.perPage}`)
  assertAnswer(list, page, answer)
  return answer
}

function assertAnswer({ expected, perPage }: ExpectedList, page: number, answer: Answer) {
  const { ids, pagination } = answer
  assert.deepEqual(ids, expected.slice((page - 1) * perPage, page * perPage), `page ${page}`)
  const { total, total_capped: capped, total_pages: pages, ...rest } = pagination
  assert.deepEqual(rest, { count: ids.length, per_page: perPage, current_page: page })
  const all = Math.ceil(expected.length / perPage)
  if (!capped) return assert.deepEqual([total, pages], [expected.length, all], 'totals')
  assert.ok(total >= CAP && total <= expected.length, `${total} of ${expected.length}`)
  assert.ok(pages >= all, `${pages} pages instead of ${all}`)
}
