'use client'
import { type RefObject, useState } from 'react'
import { useStrings } from './chat.tsx'
import type { FileOfMessage } from './content.ts'
import { durationOf } from './format.ts'
import { usePlayerUrl } from './hooks/files.ts'
import { Icon } from './icons.tsx'

const BARS = 40

/** The loudest of each part, from 0 to 1. */
function barsOf(waveform: readonly number[]): number[] {
  const loudest = Math.max(...waveform, 1)
  return Array.from(
    { length: Math.min(BARS, waveform.length) },
    (_, nth, size = waveform.length) => {
      const from = Math.floor((nth * size) / Math.min(BARS, size))
      const to = Math.floor(((nth + 1) * size) / Math.min(BARS, size))
      return Math.max(...waveform.slice(from, Math.max(to, from + 1))) / loudest
    },
  )
}

/** Plays a voice message. Its waveform shows where it is. */
export function VoicePlayer({ file, url }: { file: FileOfMessage; url: string }) {
  const strings = useStrings()
  const { player: audio, src, onPlay, onEnded, onError } = usePlayerUrl(url)
  const [isPlaying, setPlaying] = useState(false)
  const [at, setAt] = useState(0)
  const total = (file.durationMs ?? 0) / 1000
  const part = total > 0 ? at / total : 0
  const play = () => (isPlaying ? audio.current?.pause() : void audio.current?.play())
  const bars = barsOf(file.waveform ?? [])
  return (
    <div className="lq-voice">
      {/* biome-ignore lint/a11y/useMediaCaption: what users record has no captions */}
      <audio
        ref={audio as RefObject<HTMLAudioElement>}
        src={src}
        preload="none"
        onPlay={() => {
          setPlaying(true)
          onPlay()
        }}
        onPause={() => setPlaying(false)}
        onEnded={() => {
          setAt(0)
          onEnded()
        }}
        onError={onError}
        onTimeUpdate={({ currentTarget }) => setAt(currentTarget.currentTime)}
      />
      <button
        type="button"
        className="lq-voice-button"
        aria-label={isPlaying ? strings.pause : strings.play}
        onClick={play}
      >
        <Icon name={isPlaying ? 'pause' : 'play'} />
      </button>
      <span className="lq-voice-bars">
        {bars.map((height, nth) => (
          <i
            // biome-ignore lint/suspicious/noArrayIndexKey: they never change their order
            key={nth}
            style={{ height: `${Math.max(12, height * 100)}%` }}
            data-played={nth / bars.length < part || undefined}
          />
        ))}
        <input
          type="range"
          min={0}
          max={total}
          step={0.1}
          value={Math.min(at, total)}
          aria-label={strings.audio}
          aria-valuetext={durationOf(at)}
          onChange={({ target }) => {
            setAt(Number(target.value))
            if (audio.current) audio.current.currentTime = Number(target.value)
          }}
        />
      </span>
      <small>{durationOf(at > 0 ? at : total)}</small>
    </div>
  )
}
