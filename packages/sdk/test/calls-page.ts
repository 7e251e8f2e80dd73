/** Runs in a browser: a client with calls, and video elements that decode what others send. */
import { Calls } from '../src/calls/index.ts'
import { type ClientOptions, LoquatClient } from '../src/client/index.ts'

declare const options: ClientOptions
declare const document: {
  body: { append(element: object): void }
  createElement(name: 'video'): Video
}

interface Video {
  srcObject: unknown
  autoplay: boolean
  getVideoPlaybackQuality(): { totalVideoFrames: number }
}

export const chat = new LoquatClient(options)
chat.start()
export const calls = new Calls(chat, { video: { width: 320, height: 180, frameRate: 10 } })

/** The element of each stream, by user and source. A stream that is gone keeps its count. */
const videos = new Map<string, Map<unknown, Video>>()

function show(key: string, stream: unknown): void {
  const shown = videos.get(key) ?? new Map<unknown, Video>()
  videos.set(key, shown)
  if (!stream || shown.has(stream)) return
  const video = document.createElement('video')
  video.autoplay = true
  video.srcObject = stream
  document.body.append(video)
  shown.set(stream, video)
}

/** How many frames of a user's camera or screen were decoded so far. */
export function frames(uid: string, screen = false): number {
  const found = calls.state.current?.participants.find((one) => one.uid === uid)
  const key = `${uid} ${screen}`
  show(key, screen ? found?.screen : found?.stream)
  const counts = [...(videos.get(key)?.values() ?? [])].map(
    (video) => video.getVideoPlaybackQuality().totalVideoFrames,
  )
  return counts.reduce((sum, one) => sum + one, 0)
}

/** What this tab knows of its call, for the error of a test that waited in vain. */
export const describe = () =>
  JSON.stringify(calls.state.current, (key, value) =>
    key === 'local' || key === 'stream' || key === 'screen' ? Boolean(value) : value,
  )
