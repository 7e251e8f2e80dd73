'use client'
import type { ChatMessage } from '@loquat/sdk/client'
import { defaultRangeExtractor, type Range, useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { useChat } from './chat.tsx'
import { continues, dayOf, keyOf, senderOf, summaryOf, textOf } from './content.ts'
import { dayNameOf } from './format.ts'
import { useAnswers } from './hooks/answers.ts'
import { useMessages } from './hooks/messages.ts'
import { useReadMark } from './hooks/read-mark.ts'
import { useReaders } from './hooks/readers.ts'
import { useFirstUnread } from './hooks/unread.ts'
import { Icon } from './icons.tsx'
import { Message } from './message.tsx'
import { useRoom } from './room.tsx'

/** So close to an end of the loaded messages, the next page is loaded. */
const NEAR = 15
/** So close to the end, the list follows new messages. */
const END_PX = 60
const HIGHLIGHT_MS = 2_500

/** What a row has beside its text, and how wide its letters and its longest line are, with the theme. */
const SIDE_PX = 80
const LETTER_PX = 7.5
const LINE_PX = 690

/**
 * A guess, until the row is measured. It has to be cheap: a jump far away needs one for every message. After one that is too large,
 * the list is rendered once more in the same frame, because more rows are in sight.
 */
function heightOf(message: ChatMessage | undefined, width: number): number {
  if (!message) return 40
  const letters = Math.max(20, Math.min(width - SIDE_PX, LINE_PX) / LETTER_PX)
  const lines = Math.ceil((textOf(message) ?? '').length / letters)
  return 28 + 22 * Math.max(1, lines) + ('attachments' in message.data ? 220 : 0)
}

/** Answers of agents stand below their questions, so one of them can be newer than the last message. */
function newestOf(messages: readonly ChatMessage[]): ChatMessage | undefined {
  let newest = messages.findLast(({ pending }) => pending === undefined)
  for (const one of messages) {
    if (one.category === 'agentic' && !one.pending && isNewer(one, newest)) newest = one
  }
  return newest
}

/**
 * What somebody has seen who sees the end of the list. Answers of agents count as unread in threads, too, and the message above
 * the thread says that they are there.
 */
function seenOf(messages: readonly ChatMessage[]): string | undefined {
  let seen: { id: string } | undefined = newestOf(messages)
  for (const { lastReply } of messages) {
    if (lastReply?.category === 'agentic' && isNewer(lastReply, seen)) seen = lastReply
  }
  return seen?.id
}

const isNewer = (one: { id: string }, other: { id: string } | undefined) =>
  Number(one.id) > Number(other?.id ?? 0)

/** So far from the end, nobody looks for readers. */
const RECENT = 100

/** The user's own last message. */
const lastOwnOf = (messages: readonly ChatMessage[], uid: string) =>
  messages.slice(-RECENT).findLast(({ sender, pending }) => sender === uid && !pending)?.id

const overlap = (one: Range, other: Range) =>
  one.startIndex <= other.endIndex && other.startIndex <= one.endIndex

/**
 * The messages of a room. Only those in sight are in the document. Loading more never moves what is on the screen, and at
 * its end the list follows new messages.
 */
export function MessageList() {
  const { client, strings, parts } = useChat()
  const { target, parentId, name, setJump } = useRoom()
  const list = useMessages(target, parentId)
  const { loading, loaded, error } = list
  const all = useAnswers(target, parentId, list.messages)
  const shown = useShown(list, all)
  const { messages, more, newer, loadOlder, loadNewer } = shown
  const unread = useFirstUnread(target, parentId, { loaded, messages, more })
  const scroller = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const [isPlaced, setPlaced] = useState(false)
  // Until the list has reached the place where it jumps to, it must not load what lies around its old place.
  const [isMoving, setMoving] = useState(false)
  const [focused, setFocused] = useState<number>()
  const wasNewer = useRef(newer)
  const lastRange = useRef<Range>(undefined)
  const width = useRef(LINE_PX + SIDE_PX)
  const virtualizer = useVirtualizer<HTMLDivElement, HTMLDivElement>({
    count: messages.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => heightOf(messages[index], width.current),
    // With another function, all places are computed again.
    getItemKey: useCallback((index: number) => keyOf(messages[index] as ChatMessage), [messages]),
    overscan: 6,
    paddingStart: 16,
    paddingEnd: 12,
    anchorTo: 'end',
    // The next page of an earlier part isn't news.
    followOnAppend: !newer && !wasNewer.current,
    scrollEndThreshold: END_PX,
    rangeExtractor: useCallback(
      (range: Range) => {
        // After a leap only the rows in sight are made at once, to keep the task short.
        const leaps = lastRange.current && !overlap(range, lastRange.current)
        lastRange.current = range
        const indexes = defaultRangeExtractor(leaps ? { ...range, overscan: 0 } : range)
        if (focused === undefined || indexes.includes(focused) || focused >= range.count) {
          return indexes
        }
        // The focused row stays in the document, or the focus would be lost.
        return [...indexes, focused].sort((one, other) => one - other)
      },
      [focused],
    ),
  })
  useLayoutEffect(() => {
    wasNewer.current = newer
    width.current = virtualizer.scrollRect?.width ?? width.current
  })

  // The first look at the room: at what is new, or at the end.
  const count = messages.length
  useLayoutEffect(() => {
    if (isPlaced || !loaded || count === 0) return
    if (unread.index > 0 && unread.index < count - 1) {
      virtualizer.scrollToIndex(unread.index, { align: 'start' })
    } else virtualizer.scrollToEnd()
    const frame = requestAnimationFrame(() => setPlaced(true))
    return () => cancelAnimationFrame(frame)
  }, [isPlaced, loaded, count, unread.index, virtualizer])

  const items = virtualizer.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (!isPlaced || isMoving || loading || error) return
    if (more && first < NEAR) loadOlder()
    else if (newer && last > count - NEAR) loadNewer()
  }, [isPlaced, isMoving, loading, error, more, newer, first, last, count, loadOlder, loadNewer])

  const noteEnd = useCallback(() => setAtEnd(virtualizer.isAtEnd(END_PX)), [virtualizer])
  useEffect(noteEnd)
  useStickyEnd(scroller, isAtEnd && !newer, () => virtualizer.scrollToEnd())

  const newest = useMemo(() => newestOf(all), [all])
  const sees = isPlaced && isAtEnd && !newer
  // Replies aren't unread, except for answers of agents.
  const isMarked = parentId === undefined || newest?.category === 'agentic'
  const seen = useMemo(() => seenOf(all), [all])
  useReadMark(target, sees && isMarked ? seen : undefined)
  const arrived = useArrived(all, newest?.id, sees, newer)
  const { room, jumpTo: move } = list
  useEffect(() => {
    // Otherwise a large room that is fetched again would go back to where its older messages were loaded.
    if (sees && client.state.rooms[room]?.anchor !== undefined) move().catch(() => undefined)
  }, [client, room, move, sees])
  const isGroup = target.type === 'group' && parentId === undefined
  const lastOwn = isGroup && !newer ? lastOwnOf(messages, client.uid) : undefined
  const readers = useReaders(target, lastOwn)

  const { highlighted, jumpTo, isGone, missed } = useJump(
    { jumpTo: list.jumpTo, messages },
    setMoving,
    (index) => virtualizer.scrollToIndex(index, { align: 'center' }),
    shown.include,
  )
  useEffect(() => setJump(jumpTo), [setJump, jumpTo])
  const [isEndMissed, setEndMissed] = useState(false)
  const toEnd = () => {
    setMoving(true)
    setEndMissed(false)
    const arrive = () => {
      virtualizer.scrollToEnd()
      afterFrames(() => setMoving(false))
    }
    list.jumpTo().then(
      () => {
        shown.toLast()
        afterFrames(arrive)
      },
      () => {
        setMoving(false)
        setEndMissed(true)
      },
    )
  }

  const focus = (index: number) => {
    if (index < 0 || index >= count) return
    setFocused(index)
    virtualizer.scrollToIndex(index, { align: 'auto' })
    requestAnimationFrame(() => {
      const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)
      ;(row?.querySelector('article') ?? row)?.focus({ preventScroll: true })
    })
  }
  const onKeyDown = (event: React.KeyboardEvent<HTMLDivElement>) => {
    const element = event.target as HTMLElement
    if (element !== event.currentTarget && !element.matches('article, [data-index]')) return
    const at = Number(element.closest<HTMLElement>('[data-index]')?.dataset.index ?? count)
    const next = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: count - 1 }[event.key]
    if (next === undefined) return
    event.preventDefault()
    focus(next)
  }

  const Part = parts.Message ?? Message
  const top = virtualizer.getVirtualItemForOffset(virtualizer.scrollOffset ?? 0)
  const topMessage = top && messages[top.index]
  return (
    <div className="lq-list">
      {/* The announcements below say what is new. Rows that scroll into sight are not news. */}
      <div
        ref={scroller}
        className="lq-scroller"
        role="log"
        aria-live="off"
        aria-label={strings.messagesWith(name)}
        aria-busy={loading}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls
        tabIndex={0}
        onScroll={noteEnd}
        onKeyDown={onKeyDown}
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget as Node | null)) setFocused(undefined)
        }}
      >
        <div className="lq-rows" style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, key, start }) => {
            const message = messages[index] as ChatMessage
            const above = all[shown.start + index - 1]
            const isFirstUnread = index === unread.index
            // A thread has its first day in the message above it.
            const isNewDay = above ? dayOf(above) !== dayOf(message) : parentId === undefined
            return (
              <div
                key={key}
                ref={virtualizer.measureElement}
                data-index={index}
                className="lq-row"
                tabIndex={-1}
                style={{ transform: `translateY(${start}px)` }}
              >
                {index === 0 && !more && parentId === undefined && <Beginning />}
                {isNewDay && (
                  <p className="lq-divider">
                    <span>{dayNameOf(message.sentAt, strings)}</span>
                  </p>
                )}
                {isFirstUnread && (
                  <p className="lq-divider lq-divider-new">
                    <span>{strings.newMessages}</span>
                  </p>
                )}
                <Part
                  message={message}
                  isContinued={!isFirstUnread && continues(message, above)}
                  isHighlighted={highlighted === message.id}
                  readers={lastOwn === message.id ? readers : undefined}
                />
              </div>
            )
          })}
        </div>
      </div>
      {topMessage && (
        <p className="lq-float-day" data-shown={virtualizer.isScrolling || undefined} aria-hidden>
          {dayNameOf(topMessage.sentAt, strings)}
        </p>
      )}
      {loading && <span className="lq-loading" role="status" aria-label={strings.loading} />}
      {loaded && !loading && count === 0 && <p className="lq-empty">{strings.noMessages}</p>}
      {(error || missed !== undefined || isEndMissed) && (
        <p className="lq-notice" role="alert">
          {strings.loadFailed}
          <button
            type="button"
            className="lq-link"
            onClick={() => {
              list.retry()
              if (missed !== undefined) jumpTo(missed)
              else if (isEndMissed) toEnd()
            }}
          >
            {strings.retry}
          </button>
        </p>
      )}
      {isGone && (
        <p className="lq-notice" role="status">
          {strings.messageGone}
        </p>
      )}
      {unread.isAbove && unread.lastRead !== undefined && (
        <button
          type="button"
          className="lq-pill lq-pill-top"
          onClick={() => jumpTo(unread.lastRead ?? '')}
        >
          <Icon name="up" size={14} />
          {strings.jumpToUnread(unread.count)}
        </button>
      )}
      {isPlaced && count > 0 && !(isAtEnd && !newer) && (
        <button
          type="button"
          className="lq-pill lq-pill-end"
          data-new={arrived > 0 || undefined}
          aria-label={arrived > 0 ? undefined : strings.jumpToLatest}
          onClick={toEnd}
        >
          {arrived > 0 && strings.newCount(arrived)}
          <Icon name="down" size={14} />
        </button>
      )}
      <Announcer newest={newest} me={client.uid} />
    </div>
  )
}

/** The most messages that the list lays out. Each row that is measured moves all rows below it. */
const MOST = 500
/** So many more are shown when somebody scrolls near their end. */
const STEP = 200

/**
 * The part of the loaded messages that the list lays out. It moves when somebody scrolls near its end, and only then are more
 * messages loaded.
 */
function useShown(list: ReturnType<typeof useMessages>, all: readonly ChatMessage[]) {
  /** How many messages at the end are left out. */
  const [wanted, setSkipped] = useState(0)
  const most = Math.max(0, all.length - MOST)
  const skipped = Math.min(wanted, most)
  const start = most - skipped
  const messages = useMemo(
    () => (most === 0 ? all : all.slice(start, all.length - skipped)),
    [all, most, start, skipped],
  )
  const move = (by: number) => setSkipped(Math.max(0, Math.min(most, skipped + by)))
  return {
    ...{ messages, start, more: list.more || start > 0, newer: list.newer || skipped > 0 },
    loadOlder: start > 0 ? () => move(STEP) : list.loadOlder,
    loadNewer: skipped > 0 ? () => move(-STEP) : list.loadNewer,
    toLast: () => setSkipped(0),
    /** Moves to a message, unless it is shown or isn't loaded. */
    include: (id: string) => {
      const index = all.findIndex((one) => one.id === id)
      if (index >= 0) setSkipped(Math.max(0, all.length - index - MOST / 2))
    },
  }
}

/** What is above the first message. */
function Beginning() {
  const { strings } = useChat()
  const { target, name } = useRoom()
  return (
    <p className="lq-beginning">
      {target.type === 'group' ? strings.startOfGroup(name) : strings.startOf(name)}
    </p>
  )
}

/** Stays at the end when the list itself becomes smaller, for example because the composer grows. */
function useStickyEnd(
  scroller: React.RefObject<HTMLDivElement | null>,
  isAtEnd: boolean,
  toEnd: () => void,
): void {
  const latest = useRef({ isAtEnd, toEnd })
  useLayoutEffect(() => {
    latest.current = { isAtEnd, toEnd }
  })
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      if (latest.current.isAtEnd) latest.current.toEnd()
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [scroller])
}

/** How many messages of others arrived since the user last saw the end. */
function useArrived(
  messages: readonly ChatMessage[],
  newest: string | undefined,
  sees: boolean,
  newer: boolean,
): number {
  const { uid } = useChat().client
  const [seen, setSeen] = useState<string>()
  useEffect(() => {
    // If the list opens away from its end, only what arrives from then on is news.
    if (sees || (seen === undefined && !newer)) setSeen(newest)
  }, [sees, seen, newest, newer])
  if (sees || seen === undefined) return 0
  let count = 0
  for (let nth = messages.length - 1; nth >= 0; nth--) {
    const { id, sender, pending } = messages[nth] as ChatMessage
    if (pending) continue
    if (Number(id) <= Number(seen)) break
    if (sender !== uid) count++
  }
  return count
}

/** Two frames later, what was rendered is also measured. */
const afterFrames = (act: () => void) =>
  requestAnimationFrame(() => requestAnimationFrame(() => act()))

/** Shows a message and marks it for a moment. */
function useJump(
  { jumpTo: load, messages }: Pick<ReturnType<typeof useMessages>, 'jumpTo' | 'messages'>,
  setMoving: (isMoving: boolean) => void,
  scrollTo: (index: number) => void,
  include: (id: string) => void,
) {
  const [wanted, setWanted] = useState<string>()
  const [highlighted, setHighlighted] = useState<string>()
  const [isGone, setGone] = useState(false)
  /** The message that could not be loaded. */
  const [missed, setMissed] = useState<string>()
  const actions = useRef({ scrollTo, include })
  useLayoutEffect(() => {
    actions.current = { scrollTo, include }
  })
  useLayoutEffect(() => {
    if (wanted === undefined) return
    const index = messages.findIndex(({ id }) => id === wanted)
    if (index < 0) return actions.current.include(wanted)
    setWanted(undefined)
    setHighlighted(wanted)
    actions.current.scrollTo(index)
    afterFrames(() => setMoving(false))
  }, [wanted, messages, setMoving])
  useEffect(() => {
    if (highlighted === undefined && !isGone) return
    const timer = setTimeout(() => {
      setHighlighted(undefined)
      setGone(false)
    }, HIGHLIGHT_MS)
    return () => clearTimeout(timer)
  }, [highlighted, isGone])
  const jumpTo = useCallback(
    (id: string) => {
      setGone(false)
      setMissed(undefined)
      setMoving(true)
      load(id).then(
        (isThere) => {
          if (isThere) return setWanted(id)
          setMoving(false)
          setGone(true)
        },
        () => {
          setMoving(false)
          setMissed(id)
        },
      )
    },
    [load, setMoving],
  )
  return { highlighted, jumpTo, isGone, missed }
}

/** Tells users of screen readers about messages that arrive. */
function Announcer({ newest, me }: { newest: ChatMessage | undefined; me: string }) {
  const { strings } = useChat()
  const known = useRef<string>(undefined)
  const [text, setText] = useState('')
  useEffect(() => {
    if (!newest) return
    const isNew = known.current !== undefined && Number(newest.id) > Number(known.current)
    known.current = newest.id
    if (!isNew || newest.sender === me) return
    setText(`${senderOf(newest).name}: ${summaryOf(newest, strings)}`)
  }, [newest, me, strings])
  return (
    <div className="lq-hidden" role="status" aria-live="polite">
      {text}
    </div>
  )
}
