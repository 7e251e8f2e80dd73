import type { Message, ReviewItem } from '@loquat/sdk'
import { useQuery } from '@tanstack/react-query'
import { NamedAvatar } from '../../shared/avatar.tsx'
import { Button } from '../../shared/button.tsx'
import { TextArea } from '../../shared/form.tsx'
import { appKey, manage, useAppId } from '../../shared/manage.ts'
import { Problem } from '../../shared/problem.tsx'
import { Status } from '../../shared/status.tsx'
import { Time } from '../../shared/time.tsx'
import { Body } from '../conversations/body.tsx'
import { party, partyOf, senderOf } from '../conversations/content.ts'
import { PartyLink } from '../conversations/party-link.tsx'
import { type Decision, KINDS } from './kinds.ts'

/** One item: what it is about, why it is here, the messages around it, and what can be decided. */
export function OpenItem(props: {
  item: ReviewItem
  /** Somebody else decided it, or it no longer matches the filters. */
  isGone: boolean
  note: string
  onNote: (note: string) => void
  onDecide: (decision: Decision) => void
  onClaim: () => void
  onBan: () => void
  error: unknown
}) {
  const { item, isGone, note, onNote, onDecide, onClaim, onBan, error } = props
  const appId = useAppId()
  const whole = useQuery({
    queryKey: appKey(appId, 'review item', item.id),
    queryFn: () => manage.app(appId).reviewItems.get(item.id),
  })
  const { message, claim, kind } = item
  const subject = item.user ?? item.group
  const before = whole.data?.before ?? []
  const after = whole.data?.after ?? []
  const ofMessage = message !== undefined
  return (
    <section className="panel queue-item review-item" aria-label="Item">
      <div className="row">
        <Status tone={KINDS[kind].tone}>{KINDS[kind].label}</Status>
        {isGone && <Status tone="warn">No longer in the queue</Status>}
        {claim && (
          <Status tone="info">
            {`${claim.moderator} looks at it until ${new Date(claim.until * 1000).toLocaleTimeString('en')}`}
          </Status>
        )}
        <span className="row-end">
          <Button onPress={onClaim}>{claim ? 'Give back' : 'Claim'}</Button>
        </span>
      </div>
      <Why item={item} />
      {subject && <Subject subject={partyOf(subject)} appId={appId} />}
      {message && (
        <ol className="queue-context" aria-label="Messages">
          {before.map((one) => (
            <Line key={one.id} message={one} appId={appId} />
          ))}
          <Line message={message} appId={appId} marked />
          {after.map((one) => (
            <Line key={one.id} message={one} appId={appId} />
          ))}
        </ol>
      )}
      <div className="review-note">
        <TextArea label="Note for other moderators" rows={2} value={note} onChange={onNote} />
      </div>
      <Problem error={error} />
      <div className="row queue-actions">
        <Button look="main" onPress={() => onDecide('approve')}>
          {ofMessage ? 'Approve' : 'Drop the flags'}
        </Button>
        <Button onPress={() => onDecide('reject')}>
          {kind === 'flagged' ? 'Hide' : kind === 'blocked' ? 'Reject' : 'Close'}
        </Button>
        {ofMessage && <Button onPress={() => onDecide('delete')}>Delete</Button>}
        {kind !== 'group' && (
          <Button look="danger" onPress={onBan}>
            Ban…
          </Button>
        )}
      </div>
    </section>
  )
}

/** The rule and what it found, or who flagged it. */
function Why({ item }: { item: ReviewItem }) {
  const { ruleName, ruleId, condition, reason, flaggedBy } = item
  return (
    <ul className="plain-list">
      {ruleId && (
        <li>
          The rule <strong dir="auto">{ruleName ?? ruleId}</strong> found{' '}
          <mark dir="auto">{condition?.found}</mark>
        </li>
      )}
      {reason && <li dir="auto">{reason}</li>}
      {flaggedBy.map(({ uid, name, reasonId, reasonName, remark, flaggedAt }) => (
        <li key={uid}>
          <bdi>{name ?? uid}</bdi>: <strong dir="auto">{reasonName ?? reasonId}</strong>
          {remark && (
            <>
              {' · '}
              <span dir="auto">{remark}</span>
            </>
          )}{' '}
          <small>
            <Time at={flaggedAt} />
          </small>
        </li>
      ))}
    </ul>
  )
}

function Subject({ subject, appId }: { subject: ReturnType<typeof partyOf>; appId: string }) {
  const { id, name, picture, kind } = subject
  return (
    <div className="row">
      <NamedAvatar id={id} name={name} url={picture} square={kind === 'group'} />
      <PartyLink appId={appId} party={{ ...subject, name: 'Open' }} />
    </div>
  )
}

function Line(props: { message: Message; appId: string; marked?: boolean }) {
  const { message, appId, marked = false } = props
  const receiver = party(message, 'receiver')
  return (
    <li className={marked ? 'marked' : ''} {...(marked && { 'aria-current': true })}>
      <small>
        <PartyLink appId={appId} party={senderOf(message)} />
        {marked && receiver && (
          <>
            {' to '}
            <PartyLink appId={appId} party={receiver} />
          </>
        )}{' '}
        · <Time at={message.sentAt} />
      </small>
      <Body message={message} />
    </li>
  )
}
