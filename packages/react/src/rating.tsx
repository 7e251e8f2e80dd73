'use client'
import { type FormEvent, useState } from 'react'
import { useStrings } from './chat.tsx'
import { runOf } from './content.ts'
import { useHasAsked } from './hooks/answers.ts'
import { type OwnRating, useRating } from './hooks/ratings.ts'
import { Icon } from './icons.tsx'
import type { MessagePartProps } from './parts.ts'
import { useRoom } from './room.tsx'

/** Thumbs below the answer of an agent, for the user who asked. */
export function Rating({ message }: MessagePartProps) {
  const { target } = useRoom()
  const runId = runOf(message)
  const hasAsked = useHasAsked(target, message)
  return runId !== undefined && hasAsked ? <Thumbs runId={runId} /> : null
}

function Thumbs({ runId }: { runId: string }) {
  const strings = useStrings()
  const { rating, rate } = useRating(runId)
  const [isOpen, setOpen] = useState(false)
  const [isRefused, setRefused] = useState(false)
  const change = (given: OwnRating | undefined) => {
    setRefused(false)
    rate(given).catch(() => setRefused(true))
  }
  const thumb = (which: OwnRating['rating'], label: string) => (
    <button
      type="button"
      className="lq-thumb"
      aria-label={label}
      title={label}
      aria-pressed={rating?.rating === which}
      onClick={() => {
        const isOff = rating?.rating === which
        setOpen(!isOff)
        change(isOff ? undefined : { rating: which, comment: rating?.comment })
      }}
    >
      <Icon name={which === 'up' ? 'thumbUp' : 'thumbDown'} size={14} />
    </button>
  )
  return (
    <div className="lq-rating">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset looks like one */}
      <div role="group" aria-label={strings.rateAnswer} className="lq-thumbs">
        {thumb('up', strings.goodAnswer)}
        {thumb('down', strings.badAnswer)}
        {rating && !isOpen && (
          <button type="button" className="lq-link" onClick={() => setOpen(true)}>
            {rating.comment ? strings.editComment : strings.addComment}
          </button>
        )}
        {isRefused && <span role="alert">{strings.error}</span>}
      </div>
      {rating && isOpen && (
        <Comment
          text={rating.comment ?? ''}
          onDone={(comment) => {
            setOpen(false)
            if (comment !== undefined) change({ ...rating, comment })
          }}
        />
      )}
    </div>
  )
}

/** What the user says about it. Sending an empty one removes it. */
function Comment({
  text,
  onDone,
}: {
  text: string
  onDone: (comment: string | undefined) => void
}) {
  const strings = useStrings()
  const [comment, setComment] = useState(text)
  const submit = (event: FormEvent) => {
    event.preventDefault()
    onDone(comment.trim())
  }
  return (
    <form className="lq-comment" onSubmit={submit}>
      <input
        className="lq-input"
        aria-label={strings.ratingComment}
        placeholder={strings.ratingComment}
        maxLength={1_000}
        dir="auto"
        value={comment}
        onChange={(event) => setComment(event.target.value)}
        onKeyDown={(event) => event.key === 'Escape' && onDone(undefined)}
      />
      <button type="submit" className="lq-button">
        {strings.sendComment}
      </button>
    </form>
  )
}
