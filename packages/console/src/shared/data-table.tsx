import type { ReactNode } from 'react'
import {
  Cell,
  Collection,
  Column,
  ResizableTableContainer,
  Row,
  Table,
  TableBody,
  TableHeader,
  TableLoadMoreItem,
} from 'react-aria-components/Table'
import { TableLayout, Virtualizer } from 'react-aria-components/Virtualizer'
import { useNarrow } from './narrow.ts'
import { Skeleton } from './page.tsx'
import { Problem } from './problem.tsx'
import type { Records } from './records.ts'
import './data-table.css'

export interface ColumnOf<T> {
  name: string
  cell: (row: T) => ReactNode
  /** A fraction of the width (`2fr`), or pixels. */
  width?: `${number}fr` | number
  /** Pixels on phones, if the column needs less there. */
  narrow?: number
  /** Hidden on phones. */
  wide?: boolean
  end?: boolean
}

const ROW = 52
const HEAD = 38

/**
 * A table that renders only the visible rows and loads more at its end. The arrow keys, Home and End move between rows. Enter
 * or a click opens a row.
 */
export function DataTable<T extends object>(props: {
  label: string
  list: Records<T>
  columns: ColumnOf<T>[]
  id: (row: T) => string
  /** The name of the row for screen readers. */
  text: (row: T) => string
  href?: (row: T) => string
  onOpen?: (id: string) => void
  /** What cells show besides their row. Rows are drawn again if it changes. */
  depends?: unknown[]
  /** Shown if the list is empty. */
  empty: ReactNode
}) {
  const { label, list, columns, id, text, href, onOpen, depends = [], empty } = props
  const narrow = useNarrow()
  const shown = columns.filter(({ wide }) => !(narrow && wide))
  if (list.isPending) return <Skeleton />
  if (list.rows.length === 0) {
    if (list.error) return <Problem error={list.error} retry={list.retry} />
    return empty
  }
  // The table scrolls on its own and is never taller than its rows.
  const blockSize = list.rows.length * ROW + HEAD + 2 + (list.more ? ROW : 0)
  return (
    <div className="stack">
      <ResizableTableContainer className="data-table" style={{ blockSize }}>
        <Virtualizer
          layout={TableLayout}
          layoutOptions={{ rowHeight: ROW, headingHeight: HEAD, loaderHeight: ROW }}
        >
          <Table aria-label={label} {...(onOpen && { onRowAction: (key) => onOpen(String(key)) })}>
            <TableHeader>
              {shown.map(({ name, width = '1fr', narrow: least, end }, at) => (
                <Column
                  key={name}
                  id={name}
                  isRowHeader={at === 0}
                  width={narrow ? (least ?? width) : width}
                  className={end ? 'end' : ''}
                >
                  {name}
                </Column>
              ))}
            </TableHeader>
            <TableBody>
              <Collection items={list.rows} dependencies={[shown.length, ...depends]}>
                {(row: T) => (
                  <Row id={id(row)} textValue={text(row)} {...(href && { href: href(row) })}>
                    {shown.map(({ name, cell, end }) => (
                      <Cell key={name} className={end ? 'end' : ''}>
                        {cell(row)}
                      </Cell>
                    ))}
                  </Row>
                )}
              </Collection>
              <TableLoadMoreItem onLoadMore={list.loadMore} isLoading={list.isLoadingMore}>
                <span className="soft">Loading more…</span>
              </TableLoadMoreItem>
            </TableBody>
          </Table>
        </Virtualizer>
      </ResizableTableContainer>
      <Problem error={list.error} retry={list.retry} />
    </div>
  )
}
