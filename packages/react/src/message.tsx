'use client'
import type { ChatMessage, Target } from '@loquat/sdk/client'
import { type MouseEvent, memo, type ReactNode, type TouchEvent, useRef, useState } from 'react'
import { AgentBadge, AnswerState, Thinking } from './answer-state.tsx'
import { Attachments } from './attachments.tsx'
import { Avatar } from './avatar.tsx'
import { useChat, useStrings } from './chat.tsx'
import {
  actionOf,
  callOf,
  callsOf,
  partyOf,
  plainText,
  senderOf,
  summaryOf,
  textOf,
} from './content.ts'
import { EmojiButton } from './emoji-button.tsx'
import { exactTimeOf, shortTimeOf, timeOf } from './format.ts'
import { onlyAnswerOf } from './hooks/answers.ts'
import { useConversation } from './hooks/conversations.ts'
import { useHandover } from './hooks/handover.ts'
import { Icon, type IconName } from './icons.tsx'
import type { MessageProps } from './parts.ts'
import { moveFocus, Popover } from './popover.tsx'
import { Problem } from './problem.tsx'
import { Rating } from './rating.tsx'
import { Reactions, useReact } from './reactions.tsx'
import { Readers } from './readers.tsx'
import { useRoom } from './room.tsx'
import { Sources } from './sources.tsx'
import { Status } from './status.tsx'
import { MessageText } from './text.tsx'
import { ToolSteps, WaitingTool } from './tool-calls.tsx'

/** A message with everything that belongs to it. */
export const Message = memo(function Message(props: MessageProps) {
  const { message, isContinued = false, isHighlighted = false, readers = [] } = props
  const { client, strings, parts } = useChat()
  const room = useRoom()
  // The tools are only there while they can be used: otherwise the Tab key would stop at those of each message.
  const [isActive, setActive] = useState(false)
  const [isMenuOpen, setMenuOpen] = useState(false)
  const [isFlagged, setFlagged] = useState(false)
  const [problem, setProblem] = useState(false)
  const article = useRef<HTMLElement>(null)
  const touch = useGestures({ onRest: () => setMenuOpen(true), onSwipe: () => room.quote(message) })
  if (message.category === 'action') {
    return <p className="lq-action">{actionOf(message, strings)}</p>
  }
  if (message.category === 'call') {
    const call = callOf(message, client.uid, strings)
    return call ? (
      <p className="lq-action lq-call-entry" data-missed={call.isMissed || undefined}>
        <Icon name={call.type === 'video' ? 'camera' : 'phone'} size={14} />
        <span>{call.text}</span>
        <time>{timeOf(message.sentAt, strings)}</time>
      </p>
    ) : (
      <p hidden />
    )
  }
  const sender = senderOf(message)
  const isOwn = message.sender === client.uid
  const isDeleted = message.deletedAt !== undefined
  const AvatarPart = parts.Avatar ?? Avatar
  const TextPart = parts.MessageText ?? MessageText
  const BadgePart = parts.AgentBadge ?? AgentBadge
  const StepsPart = parts.ToolSteps ?? ToolSteps
  const WaitingPart = parts.WaitingTool ?? WaitingTool
  const StatePart = parts.AnswerState ?? AnswerState
  const SourcesPart = parts.Sources ?? Sources
  const RatingPart = parts.Rating ?? Rating
  const ReactionsPart = parts.Reactions ?? Reactions
  const isAnswer = message.category === 'agentic'
  const { tools = [], waiting } = callsOf(message)
  const isCalling = waiting !== undefined || tools.at(-1)?.done === false
  const isWriting = isAnswer && message.pending === 'sending'
  const isThinking = isWriting && !isCalling && textOf(message) === undefined
  const canAct = !message.pending && !isDeleted
  const hasContent = textOf(message) !== undefined || 'attachments' in message.data
  return (
    <article
      ref={article}
      className="lq-message"
      tabIndex={-1}
      data-own={isOwn || undefined}
      data-continued={isContinued || undefined}
      data-highlighted={isHighlighted || undefined}
      data-pending={message.pending}
      aria-label={`${isOwn ? strings.you : sender.name}, ${exactTimeOf(message.sentAt, strings)}`}
      onPointerEnter={(event) => event.pointerType === 'mouse' && setActive(true)}
      onPointerLeave={({ currentTarget }) => {
        // On its way to a popover, the pointer leaves the message.
        const isUsed = ':popover-open, :focus-visible'
        if (!currentTarget.matches(isUsed) && !currentTarget.querySelector(isUsed)) setActive(false)
      }}
      onFocus={() => setActive(true)}
      onBlur={({ currentTarget, relatedTarget }) => {
        if (!currentTarget.contains(relatedTarget as Node | null)) setActive(false)
      }}
      {...(canAct && touch)}
    >
      <div className="lq-message-side">
        {isContinued ? (
          <Time message={message} />
        ) : (
          <AvatarPart id={sender.id} name={sender.name} picture={sender.picture} />
        )}
      </div>
      <div className="lq-message-main">
        {!isContinued && (
          <header className="lq-message-head">
            <strong className="lq-clip">
              <bdi>{isOwn ? strings.you : sender.name}</bdi>
            </strong>
            {isAnswer && <BadgePart />}
            <Time message={message} />
          </header>
        )}
        {isAnswer && !isDeleted && <StepsPart message={message} />}
        <div className="lq-bubble" hidden={isAnswer && !hasContent && !isThinking}>
          {!isDeleted && message.quotedMessageId !== undefined && <Quoted message={message} />}
          {isDeleted ? (
            <p className="lq-deleted">{strings.deleted}</p>
          ) : (
            <>
              <Attachments message={message} />
              <TextPart message={message} />
              {isThinking && <Thinking />}
              {!hasContent && !isAnswer && <p className="lq-deleted">{strings.unsupported}</p>}
            </>
          )}
          <Facts message={message} isOwn={isOwn} />
        </div>
        <Moderation message={message} />
        {isFlagged && (
          <p className="lq-moderation" role="status">
            <Icon name="flag" size={14} />
            {strings.flagged}
          </p>
        )}
        {isWriting && <WaitingPart message={message} />}
        {isAnswer && message.pending && <StatePart message={message} />}
        {!isAnswer && message.pending === 'failed' && <Failed message={message} />}
        {isAnswer && canAct && <SourcesPart message={message} />}
        {isAnswer && canAct && <RatingPart message={message} />}
        {isAnswer && !message.pending && <FollowUp message={message} />}
        {problem && <Problem />}
        {!isDeleted && <ReactionsPart message={message} />}
        <ThreadSummary message={message} />
        {readers.length > 0 && <Readers uids={readers} />}
      </div>
      {canAct && (isActive || isMenuOpen) && (
        <Tools message={message} isOwn={isOwn} onMore={() => setMenuOpen(true)} />
      )}
      {isMenuOpen && (
        <Popover
          anchor={article}
          label={strings.more}
          role="menu"
          className="lq-menu"
          onClose={() => setMenuOpen(false)}
        >
          <Menu
            message={message}
            isOwn={isOwn}
            onFlagged={() => setFlagged(true)}
            onProblem={setProblem}
            onDone={() => setMenuOpen(false)}
          />
        </Popover>
      )}
      {room.editing?.id === message.id && <span className="lq-hidden">{strings.editing}</span>}
    </article>
  )
})

const Time = ({ message: { sentAt } }: MessageProps) => {
  const strings = useStrings()
  return (
    <time
      className="lq-time"
      dateTime={new Date(sentAt * 1000).toISOString()}
      title={exactTimeOf(sentAt, strings)}
    >
      {timeOf(sentAt, strings)}
    </time>
  )
}

/** Whether it was edited, and how far it got. */
function Facts({ message, isOwn }: { message: ChatMessage; isOwn: boolean }) {
  const { strings, parts } = useChat()
  const StatusPart = parts.Status ?? Status
  const isEdited = message.editedAt !== undefined && message.deletedAt === undefined
  return (
    <span className="lq-facts">
      {isEdited && <span className="lq-edited">{strings.edited}</span>}
      <Time message={message} />
      {isOwn && message.deletedAt === undefined && <StatusPart message={message} />}
    </span>
  )
}

/** What moderation says. Only the sender sees a message that isn't approved. */
function Moderation({ message }: { message: ChatMessage }) {
  const strings = useStrings()
  const { moderation } = message.data as { moderation?: { status?: string } }
  if (moderation?.status !== 'pending' && moderation?.status !== 'disapproved') return null
  const isPending = moderation.status === 'pending'
  return (
    <p className="lq-moderation" data-status={moderation.status}>
      <Icon name={isPending ? 'eye' : 'warn'} size={14} />
      {isPending ? strings.underReview : strings.rejected}
    </p>
  )
}

function Failed({ message }: { message: ChatMessage }) {
  const { client, strings } = useChat()
  return (
    <p className="lq-failed" role="alert">
      <Icon name="warn" size={14} />
      <span>{message.error?.message ?? strings.failed}</span>
      <button
        type="button"
        className="lq-link"
        onClick={() => void client.resend(message).catch(() => undefined)}
      >
        {strings.retry}
      </button>
      <button type="button" className="lq-link" onClick={() => client.discard(message)}>
        {strings.discard}
      </button>
    </p>
  )
}

/** The quoted message. A click shows it in its place. */
function Quoted({ message }: { message: ChatMessage }) {
  const strings = useStrings()
  const { jumpTo } = useRoom()
  const { quotedMessage, quotedMessageId = '' } = message
  const isGone = quotedMessage !== undefined && !quotedMessage.data
  return (
    <button
      type="button"
      className="lq-quoted"
      disabled={isGone}
      onClick={() => jumpTo(quotedMessageId)}
    >
      {quotedMessage?.data && (
        <strong className="lq-clip">
          <bdi>{partyOf(quotedMessage, 'sender')?.name ?? quotedMessage.sender}</bdi>
        </strong>
      )}
      <span className="lq-quoted-text" dir="auto">
        {isGone ? strings.deleted : quotedMessage ? summaryOf(quotedMessage, strings) : '…'}
      </span>
    </button>
  )
}

/**
 * An agent knows only what was said in the thread, so another question about it belongs there. In a group, what is written
 * there is a question only if it mentions the agent.
 */
function FollowUp({ message: { parentId } }: MessageProps) {
  const strings = useStrings()
  const { target, openThread, parentId: here } = useRoom()
  if (parentId === undefined || here !== undefined || !openThread) return null
  return (
    <p className="lq-answering">
      <button type="button" className="lq-link" onClick={() => openThread(parentId)}>
        <Icon name="reply" size={14} />
        {target.type === 'user' ? strings.followUp : strings.reply}
      </button>
    </p>
  )
}

/** How many replies there are, and who wrote the last one. */
function ThreadSummary({ message }: { message: ChatMessage }) {
  const { strings, parts } = useChat()
  const { openThread } = useRoom()
  const { replyCount = 0, lastReply } = message
  // The only answer of an agent is shown below its question.
  if (replyCount === 0 || !openThread || onlyAnswerOf(message)) return null
  const AvatarPart = parts.Avatar ?? Avatar
  const last = lastReply && senderOf(lastReply)
  return (
    <button type="button" className="lq-thread-summary" onClick={() => openThread(message.id)}>
      {last && <AvatarPart id={last.id} name={last.name} picture={last.picture} />}
      <strong>{strings.replies(replyCount)}</strong>
      {lastReply && (
        <span className="lq-soft">{strings.lastReply(shortTimeOf(lastReply.sentAt, strings))}</span>
      )}
    </button>
  )
}

const QUICK = ['👍', '❤️', '😂']

interface ToolsProps {
  message: ChatMessage
  isOwn: boolean
}

function Tools({ message, onMore }: ToolsProps & { onMore: () => void }) {
  const strings = useStrings()
  const { openThread, quote } = useRoom()
  const react = useReact(message)
  const tool = (name: IconName, label: string, act: () => void) => (
    <button type="button" className="lq-tool" aria-label={label} title={label} onClick={act}>
      <Icon name={name} />
    </button>
  )
  return (
    <div className="lq-tools" role="toolbar" aria-label={strings.more}>
      {QUICK.map((emoji) => (
        <button
          key={emoji}
          type="button"
          className="lq-tool lq-tool-emoji"
          aria-label={strings.reactWith(emoji)}
          title={strings.reactWith(emoji)}
          onClick={() => react(emoji)}
        >
          {emoji}
        </button>
      ))}
      <EmojiButton label={strings.react} onPick={react} />
      {openThread && tool('reply', strings.reply, () => openThread(message.parentId ?? message.id))}
      {tool('quote', strings.quote, () => quote(message))}
      {tool('more', strings.more, onMore)}
    </div>
  )
}

interface MenuProps extends ToolsProps {
  onFlagged: () => void
  onProblem: (isThere: boolean) => void
  onDone: () => void
}

function Menu({ message, isOwn, onFlagged, onProblem, onDone }: MenuProps) {
  const { client, strings, handovers } = useChat()
  const { target, openThread, quote, edit } = useRoom()
  const { handover, handOver } = useHandover(target)
  const react = useReact(message)
  const [isSure, setSure] = useState(false)
  const [isFlagging, setFlagging] = useState(false)
  const text = textOf(message)
  // The server accepts no other changes from users.
  const mayEdit = isOwn && message.type === 'text'
  const mayRemove = useIsModerator(target) || isOwn
  const item = (icon: IconName, label: string, act: () => void, isDanger = false): ReactNode => (
    <button
      key={label}
      type="button"
      role="menuitem"
      data-danger={isDanger || undefined}
      onClick={() => {
        onDone()
        act()
      }}
    >
      <Icon name={icon} />
      {label}
    </button>
  )
  const { messages } = client.api
  const change = (changed: Promise<void>) => {
    onProblem(false)
    changed.catch(() => onProblem(true))
  }
  const flag = async (reasonId: string) => {
    await messages.flag(message.id, { reasonId })
    onFlagged()
  }
  const remove = async () => {
    await messages.delete(message.id)
  }
  if (isFlagging) {
    return (
      // biome-ignore lint/a11y/noStaticElementInteractions: it only moves the focus of the buttons
      <div onKeyDown={(event) => moveFocus(event)}>
        <p className="lq-menu-title">{strings.flagWhy}</p>
        {Object.entries(strings.flagReasons).map(([id, name]) =>
          item('flag', name, () => change(flag(id))),
        )}
      </div>
    )
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only moves the focus of the buttons
    <div onKeyDown={(event) => moveFocus(event)}>
      <div className="lq-menu-quick">
        {[...QUICK, '🎉', '👀', '🙏'].map((emoji) => (
          <button
            key={emoji}
            type="button"
            role="menuitem"
            aria-label={strings.reactWith(emoji)}
            onClick={() => {
              onDone()
              react(emoji)
            }}
          >
            {emoji}
          </button>
        ))}
      </div>
      {openThread && item('reply', strings.reply, () => openThread(message.parentId ?? message.id))}
      {item('quote', strings.quote, () => quote(message))}
      {text !== undefined &&
        item('copy', strings.copy, () => void navigator.clipboard.writeText(plainText(message)))}
      {handovers &&
        !handover &&
        target.type === 'user' &&
        message.category === 'agentic' &&
        item('people', strings.askPerson, () => change(handOver()))}
      {mayEdit && item('edit', strings.edit, () => edit(message))}
      {!isOwn && (
        <button type="button" role="menuitem" onClick={() => setFlagging(true)}>
          <Icon name="flag" />
          {strings.flag}
        </button>
      )}
      {mayRemove && !isSure && (
        <button type="button" role="menuitem" data-danger onClick={() => setSure(true)}>
          <Icon name="trash" />
          {strings.remove}
        </button>
      )}
      {mayRemove && isSure && item('trash', strings.removeSure, () => change(remove()), true)}
    </div>
  )
}

/** Whether the user may delete what others write in this group. */
function useIsModerator(target: Target): boolean {
  const other = useConversation(target)?.conversationWith
  return other !== undefined && 'guid' in other && MODERATORS.includes(other.scope ?? '')
}

const MODERATORS = ['admin', 'moderator']

const LONG_PRESS_MS = 450
/** So far, a finger has to move a message to quote it. */
const SWIPE_PX = 56
/** A finger never rests completely. */
const REST_PX = 10

interface Gestures {
  onRest: () => void
  /** The finger moved the message towards the middle of the screen. */
  onSwipe: () => void
}

/**
 * Tells a finger that rests on the element from one that swipes it. The element follows the finger. Both end when the finger
 * is lifted: a popover that opened earlier would be closed by that, like by a tap beside it.
 */
function useGestures({ onRest, onSwipe }: Gestures) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const start = useRef<{ x: number; y: number }>(undefined)
  const isFar = useRef(false)
  const unpress = (element: HTMLElement) => {
    clearTimeout(timer.current)
    delete element.dataset.pressed
  }
  const end = (element: HTMLElement) => {
    unpress(element)
    element.style.removeProperty('--lq-swipe')
    start.current = undefined
    isFar.current = false
  }
  return {
    onTouchStart: ({ currentTarget, touches }: TouchEvent<HTMLElement>) => {
      const touch = touches[0]
      end(currentTarget)
      if (!touch || touches.length > 1) return
      start.current = { x: touch.clientX, y: touch.clientY }
      timer.current = setTimeout(() => {
        currentTarget.dataset.pressed = ''
      }, LONG_PRESS_MS)
    },
    onTouchMove: ({ currentTarget, touches }: TouchEvent<HTMLElement>) => {
      const touch = touches[0]
      if (!touch || !start.current) return
      const [x, y] = [touch.clientX - start.current.x, touch.clientY - start.current.y]
      if (Math.hypot(x, y) > REST_PX) unpress(currentTarget)
      const isRtl = getComputedStyle(currentTarget).direction === 'rtl'
      const moved = Math.abs(y) > Math.abs(x) ? 0 : Math.max(0, isRtl ? -x : x)
      isFar.current = moved > SWIPE_PX
      const shown = Math.min(moved, SWIPE_PX + 8) * (isRtl ? -1 : 1)
      currentTarget.style.setProperty('--lq-swipe', `${shown}px`)
    },
    onTouchEnd: (event: TouchEvent<HTMLElement>) => {
      const element = event.currentTarget
      const [isPressed, wasFar] = ['pressed' in element.dataset, isFar.current]
      end(element)
      if (wasFar) onSwipe()
      if (!isPressed) return
      // No click on what is under the finger.
      event.preventDefault()
      onRest()
    },
    onTouchCancel: ({ currentTarget }: TouchEvent<HTMLElement>) => end(currentTarget),
    onContextMenu: (event: MouseEvent<HTMLElement>) => {
      // The browser's own menu for a long press would cancel the touch.
      if (start.current) event.preventDefault()
    },
  }
}
