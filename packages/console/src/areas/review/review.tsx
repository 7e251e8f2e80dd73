/** The queue of moderators: what waits on the left, one item with its context on the right. Every key has a button. */
import type { ReviewItem } from '@loquat/sdk'
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Empty } from '../../shared/empty.tsx'
import { FilterBar } from '../../shared/filters.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Page, Skeleton } from '../../shared/page.tsx'
import { Problem } from '../../shared/problem.tsx'
import { recordsOf } from '../../shared/records.ts'
import { queryOf } from '../../shared/search.ts'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { toast } from '../../shared/toasts.tsx'
import { senderOf, summaryOf } from '../conversations/content.ts'
import { BanForm } from './ban-form.tsx'
import { REVIEW_FILTERS } from './filters.ts'
import { type Decision, KINDS } from './kinds.ts'
import { OpenItem } from './open-item.tsx'
import { useKeys } from './use-keys.ts'
import { useOpenItem } from './use-open-item.ts'
import '../../shared/queue.css'
import './review.css'

const route = getRouteApi('/apps/$appId/review')
const REFRESH_MS = 5_000

const DONE: Record<Decision, string> = {
  approve: 'Approved',
  reject: 'Rejected',
  delete: 'Deleted',
}

const KEYS: [string, string][] = [
  ['j', 'Next item'],
  ['k', 'Previous item'],
  ['c', 'Claim, or give back'],
  ['a', 'Approve'],
  ['r', 'Reject'],
  ['d', 'Delete the message'],
  ['b', 'Reject and ban the user'],
  ['n', 'Write a note'],
  ['?', 'Show these keys'],
]

export function Review() {
  const appId = useAppId()
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const { reviewItems } = manage.app(appId)
  const list = useInfiniteQuery({
    queryKey: appKey(appId, 'review', search),
    queryFn: ({ pageParam }) =>
      reviewItems.list({
        limit: 50,
        affix: 'append',
        ...queryOf(REVIEW_FILTERS, search),
        ...(pageParam && { id: pageParam }),
      }),
    initialPageParam: '',
    getNextPageParam: ({ meta }) => meta.next?.id,
    refetchInterval: REFRESH_MS,
  })
  const items = recordsOf(list)
  const { open, isGone, next, previous, show, close } = useOpenItem(
    items.rows,
    JSON.stringify(search),
  )
  const [note, setNote] = useState('')
  const [banned, setBanned] = useState<ReviewItem>()
  const [helping, setHelping] = useState(false)
  const refresh = () => queries.invalidateQueries({ queryKey: appKey(appId, 'review') })
  const moveOn = async (decided: ReviewItem) => {
    const other = next ?? previous
    if (open?.id === decided.id) show(other)
    await refresh()
    if (!other) close(decided.id)
  }
  const decide = useMutation({
    mutationFn: ({ item, decision }: { item: ReviewItem; decision: Decision }) =>
      reviewItems.decide(item.id, { decision, ...(note && { note }) }),
    onSuccess: async (_, { item, decision }) => {
      await moveOn(item)
      toast(DONE[decision])
    },
  })
  const claim = useMutation({
    mutationFn: () => reviewItems.claim(open?.id ?? '', { seconds: open?.claim ? 0 : 300 }),
    onSuccess: refresh,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: a note belongs to one item
  useEffect(() => {
    setNote('')
    decide.reset()
    claim.reset()
  }, [open?.id])
  const judge = (decision: Decision) => {
    if (open && !decide.isPending) decide.mutate({ item: open, decision })
  }
  useKeys({
    j: () => show(next),
    k: () => show(previous),
    c: () => open && claim.mutate(),
    a: () => judge('approve'),
    r: () => judge('reject'),
    d: () => open?.message && judge('delete'),
    b: () => open && open.kind !== 'group' && setBanned(open),
    n: () => document.querySelector<HTMLElement>('.review-note textarea')?.focus(),
    '?': () => setHelping(true),
  })
  return (
    <Page
      title="Review"
      description="What rules blocked and users flagged, oldest first."
      actions={<Button onPress={() => setHelping(true)}>Shortcuts</Button>}
    >
      <div className="toolbar">
        <FilterBar
          filters={REVIEW_FILTERS}
          search={search}
          onChange={(changes) =>
            void navigate({ search: (before) => ({ ...before, ...changes }), replace: true })
          }
        />
      </div>
      {items.isPending && <Skeleton lines={5} />}
      <Problem error={items.error} retry={items.retry} />
      {!items.isPending && !items.error && !open && (
        <Empty title="Nothing to review">
          {Object.keys(search).length > 0
            ? 'Nothing matches your filters. Remove a filter to see more.'
            : 'Messages that rules block and users flag appear here.'}
        </Empty>
      )}
      {open && (
        <div className="queue">
          <nav aria-label="Queue">
            <ul className="queue-list">
              {items.rows.map((item) => (
                <li key={item.id}>
                  <button
                    type="button"
                    className="queue-entry"
                    aria-current={item.id === open.id}
                    onClick={() => show(item)}
                  >
                    <Entry item={item} />
                  </button>
                </li>
              ))}
            </ul>
            {items.more && <Button onPress={items.loadMore}>Show more</Button>}
          </nav>
          <OpenItem
            item={open}
            isGone={isGone}
            note={note}
            onNote={setNote}
            onDecide={judge}
            onClaim={() => claim.mutate()}
            onBan={() => setBanned(open)}
            error={decide.error ?? claim.error}
          />
        </div>
      )}
      <Dialog
        title={`Ban ${banned ? subjectOf(banned) : ''}`}
        isOpen={banned !== undefined}
        onClose={() => setBanned(undefined)}
      >
        {banned && (
          <BanForm
            item={banned}
            note={note}
            onDone={async () => {
              setBanned(undefined)
              await moveOn(banned)
              toast('Rejected. The ban starts within a second.')
            }}
          />
        )}
      </Dialog>
      <Dialog title="Shortcuts" isOpen={helping} onClose={() => setHelping(false)}>
        <dl className="review-keys">
          {KEYS.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      </Dialog>
    </Page>
  )
}

/** The name of the user or group that an item is about. */
const subjectOf = ({ message, user, group }: ReviewItem) =>
  message ? senderOf(message).name : (user?.name ?? group?.name ?? '')

function Entry({ item }: { item: ReviewItem }) {
  const { kind, message, claim, createdAt } = item
  const { label, tone } = KINDS[kind]
  return (
    <>
      <span className="row">
        <strong className="clip">
          <bdi>{subjectOf(item)}</bdi>
        </strong>
        <small className="row-end">
          <Time at={createdAt} />
        </small>
      </span>
      {message && (
        <span className="clip soft" dir="auto">
          {summaryOf(message)}
        </span>
      )}
      <span className="tags">
        <Status tone={tone}>{label}</Status>
        {claim && <Status tone="info">{claim.moderator}</Status>}
      </span>
    </>
  )
}
