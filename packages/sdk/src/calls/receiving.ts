import { gathered, watch } from './peer.ts'
import type { Line } from './sending.ts'
import type { CallStream, Peer } from './web.ts'

/** A connection on which this device receives what another one sends. */
export class Receiving {
  readonly stream: CallStream
  readonly #line: Line
  readonly #publicationId: string
  readonly #onChange: () => void
  readonly #onLost: () => void
  #peer: Peer | undefined
  #closed = false

  constructor(line: Line, publicationId: string, onChange: () => void, onLost: () => void) {
    this.#line = line
    this.#publicationId = publicationId
    this.#onChange = onChange
    this.#onLost = onLost
    this.stream = new line.web.MediaStream()
  }

  get connected(): boolean {
    return this.#peer?.connectionState === 'connected'
  }

  async connect(): Promise<void> {
    const { api, web, sessionId, deviceId, iceServers } = this.#line
    const peer = new web.RTCPeerConnection({ iceServers })
    this.#peer = peer
    watch(peer, this.#onChange, this.#onLost)
    const offer = await api.subscribeMedia(sessionId, this.#publicationId, { deviceId })
    if (this.#closed) return
    await peer.setRemoteDescription({ type: 'offer', sdp: offer.sdp })
    for (const { track } of peer.getReceivers()) this.stream.addTrack(track as never)
    await peer.setLocalDescription()
    const sdp = await gathered(peer)
    if (this.#closed) return
    await api.answerMedia(sessionId, this.#publicationId, { deviceId, sdp })
  }

  /** How loud it is at this moment, from 0 to 1. */
  async level(): Promise<number> {
    let level = 0
    for (const receiver of this.#peer?.getReceivers() ?? []) {
      if (receiver.track.kind !== 'audio') continue
      const stats = await receiver.getStats()
      stats.forEach((report: unknown) => {
        const { type, audioLevel } = report as { type: string; audioLevel?: number }
        if (type === 'inbound-rtp') level = Math.max(level, audioLevel ?? 0)
      })
    }
    return level
  }

  close(): void {
    this.#closed = true
    this.#peer?.close()
  }
}
