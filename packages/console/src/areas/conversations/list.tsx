import { Collection } from 'react-aria-components/Collection'
import { ListBox, ListBoxItem, ListBoxLoadMoreItem } from 'react-aria-components/ListBox'
import { ListLayout, Virtualizer } from 'react-aria-components/Virtualizer'
import { Avatar } from '../../shared/avatar.tsx'
import type { Records } from '../../shared/records.ts'
import { Time } from '../../shared/time.tsx'
import type { Party } from './content.ts'

/** A row of the conversation list. */
export interface Row {
  key: string
  conversationId: string
  /** The group, or one or both users of a 1:1 conversation. */
  parties: Party[]
  summary: string
  at: number | undefined
  unread: number
}

export const nameOf = (parties: Party[]) => parties.map(({ name }) => name).join(' · ')

export function ConversationList(props: {
  rows: Row[]
  list: Pick<Records<unknown>, 'loadMore' | 'isLoadingMore'>
  open: string | undefined
  onOpen: (conversationId: string) => void
}) {
  const { rows, list, open, onOpen } = props
  const selected = rows.find(({ conversationId }) => conversationId === open)?.key
  return (
    <Virtualizer layout={ListLayout} layoutOptions={{ rowHeight: 68, loaderHeight: 44 }}>
      <ListBox
        aria-label="Conversations"
        className="conversations"
        selectionMode="single"
        selectedKeys={selected === undefined ? [] : [selected]}
        onSelectionChange={(keys) => {
          const [key] = keys === 'all' ? [] : keys
          const row = rows.find((one) => one.key === key)
          if (row) onOpen(row.conversationId)
        }}
      >
        <Collection items={rows.map((row) => ({ ...row, id: row.key }))}>
          {({ key, parties, summary, at, unread }) => (
            <ListBoxItem id={key} textValue={nameOf(parties)} className="conversation">
              <Avatar
                id={parties[0]?.id ?? key}
                name={parties[0]?.name ?? '?'}
                url={parties[0]?.picture}
                square={parties[0]?.kind === 'group'}
              />
              <span className="conversation-text">
                <span className="clip">
                  <bdi>{nameOf(parties)}</bdi>
                </span>
                <small className="clip">
                  <bdi>{summary}</bdi>
                </small>
              </span>
              <span className="conversation-end">
                <Time at={at} />
                {unread > 0 && <span className="unread">{unread > 999 ? '999+' : unread}</span>}
              </span>
            </ListBoxItem>
          )}
        </Collection>
        <ListBoxLoadMoreItem onLoadMore={list.loadMore} isLoading={list.isLoadingMore}>
          <span className="soft">Loading more…</span>
        </ListBoxLoadMoreItem>
      </ListBox>
    </Virtualizer>
  )
}
