import type { UserCallsMethods } from '../operations.gen.ts'
import { gathered, watch } from './peer.ts'
import type { CallStream, CallTrack, Ice, Peer, Sender, WebRtc } from './web.ts'

export type Source = 'camera' | 'screen'

/** What a connection needs to know about its call. */
export interface Line {
  readonly api: UserCallsMethods
  readonly web: WebRtc
  readonly sessionId: string
  readonly deviceId: string
  /** With credentials that haven't expired. */
  iceServers(): Promise<Ice[]>
}

type Switches = { audio: boolean; video: boolean }

/** A connection on which this device sends its camera and microphone, or its screen. */
export class Sending {
  readonly source: Source
  readonly stream: CallStream
  /** The media server's id of what it sends. */
  publicationId: string | undefined
  /** From this version on, lists contain it. */
  version = 0
  readonly #line: Line
  readonly #kinds: ('audio' | 'video')[]
  readonly #onChange: () => void
  readonly #onLost: () => void
  #peer: Peer | undefined
  #senders = new Map<string, Sender>()
  #sent: Switches
  #running: Promise<void> | undefined
  #closed = false

  constructor(
    line: Line,
    source: Source,
    stream: CallStream,
    kinds: ('audio' | 'video')[],
    switches: Switches,
    onChange: () => void,
    onLost: () => void,
  ) {
    this.#line = line
    this.source = source
    this.stream = stream
    this.#kinds = kinds
    this.#sent = switches
    this.#onChange = onChange
    this.#onLost = onLost
  }

  get connected(): boolean {
    return this.#peer?.connectionState === 'connected'
  }

  /** Connects, or connects again. Calls at the same time are one. */
  connect(): Promise<void> {
    this.#running ??= this.#connect().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  /** Shows the others what is on, and replaces the track that is sent. */
  async set(switches: Switches, kind: 'audio' | 'video', track: CallTrack | null): Promise<void> {
    this.#sent = switches
    await this.#senders.get(kind)?.replaceTrack(track as never)
    if (this.publicationId === undefined) return
    const { api, sessionId, deviceId } = this.#line
    await api.updateMedia(sessionId, this.publicationId, { deviceId, ...switches })
  }

  close(): void {
    this.#closed = true
    this.#peer?.close()
    for (const track of this.stream.getTracks()) track.stop()
  }

  async #connect(): Promise<void> {
    const { api, web, sessionId, deviceId } = this.#line
    if (this.#closed) return
    const iceServers = await this.#line.iceServers()
    if (this.#closed) return
    this.#peer?.close()
    const peer = new web.RTCPeerConnection({ iceServers })
    this.#peer = peer
    this.#senders.clear()
    for (const kind of this.#kinds) {
      const track = this.stream.getTracks().find((one) => one.kind === kind)
      const init = { direction: 'sendonly' as const, streams: [this.stream] }
      const { sender } = peer.addTransceiver((track ?? kind) as never, init as never)
      this.#senders.set(kind, sender as Sender)
    }
    watch(peer, this.#onChange, this.#onLost)
    await peer.setLocalDescription()
    const sdp = await gathered(peer)
    if (this.#closed) return
    const { source } = this
    const sent = { deviceId, source, sdp, ...this.#sent }
    const answer = await api.publishMedia(sessionId, sent)
    if (this.#closed) return
    this.publicationId = answer.publicationId
    this.version = answer.version
    await peer.setRemoteDescription({ type: 'answer', sdp: answer.sdp })
    // It may have been switched meanwhile.
    const { audio, video } = this.#sent
    if (audio !== sent.audio || video !== sent.video)
      await api.updateMedia(sessionId, answer.publicationId, { deviceId, ...this.#sent })
  }
}
