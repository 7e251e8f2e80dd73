'use client'
import { useCallback, useEffect, useRef, useState } from 'react'

/** What browsers record and the server reads. */
const TYPES = ['audio/webm;codecs=opus', 'audio/ogg;codecs=opus', 'audio/mp4']

export interface Recorder {
  /** Whether this browser can record. */
  isSupported: boolean
  isRecording: boolean
  /** How long it has been recording. */
  seconds: number
  /** Asks for the microphone. Rejects if the user refuses it. */
  start: () => Promise<void>
  /** Ends the recording and resolves to it. */
  stop: () => Promise<File | undefined>
  /** Ends the recording and drops it. */
  cancel: () => void
}

/** Records a voice message. */
export function useRecorder(): Recorder {
  const running = useRef<MediaRecorder>(undefined)
  /** Counts starts and ends. While the browser asks for the microphone, the user can leave or start again. */
  const turn = useRef(0)
  const [isSupported, setSupported] = useState(false)
  const [since, setSince] = useState<number>()
  const [seconds, setSeconds] = useState(0)
  useEffect(() => {
    setSupported('MediaRecorder' in window && navigator.mediaDevices !== undefined)
    return () => {
      turn.current++
      end(running.current)
    }
  }, [])
  useEffect(() => {
    if (since === undefined) return
    const timer = setInterval(() => setSeconds(Math.floor((Date.now() - since) / 1000)), 200)
    return () => clearInterval(timer)
  }, [since])
  const start = useCallback(async () => {
    const own = ++turn.current
    const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
    if (own !== turn.current) return endStream(stream)
    end(running.current)
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type)) ?? ''
    running.current = new MediaRecorder(stream, { mimeType })
    running.current.start()
    setSeconds(0)
    setSince(Date.now())
  }, [])
  const cancel = useCallback(() => {
    turn.current++
    end(running.current)
    running.current = undefined
    setSince(undefined)
  }, [])
  const stop = useCallback(async () => {
    const recorder = running.current
    if (!recorder) return undefined
    const recorded = new Promise<Blob>((resolve) => {
      recorder.ondataavailable = ({ data }) => resolve(data)
    })
    cancel()
    const blob = await recorded
    const [type = ''] = blob.type.split(';')
    return new File([blob], `voice.${type.split('/')[1] ?? 'webm'}`, { type })
  }, [cancel])
  return { isSupported, isRecording: since !== undefined, seconds, start, stop, cancel }
}

function end(recorder: MediaRecorder | undefined): void {
  if (recorder?.state === 'recording') recorder.stop()
  if (recorder) endStream(recorder.stream)
}

/** Otherwise the browser goes on to show that it listens. */
function endStream(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop()
}
