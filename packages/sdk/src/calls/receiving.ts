import { gathered, watch } from './peer.ts'
import type { Line } from './sending.ts'
import type { CallStream, Peer } from './web.ts'

/** What statistics say about audio: its energy and its length so far. */
interface Heard {
  type: string
  totalAudioEnergy?: number
  totalSamplesDuration?: number
}

/** A connection on which this device receives what another one sends. */
export class Receiving {
  readonly stream: CallStream
  readonly #line: Line
  readonly #publicationId: string
  readonly #onChange: () => void
  readonly #onLost: () => void
  #peer: Peer | undefined
  #closed = false
  #heard = { energy: 0, seconds: 0 }

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
    const { api, web, sessionId, deviceId } = this.#line
    const iceServers = await this.#line.iceServers()
    if (this.#closed) return
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

  /** How loud it was since the last call, from 0 to 1. A level of one moment would miss who pauses at that moment. */
  async level(): Promise<number> {
    const before = this.#heard
    const heard = { energy: 0, seconds: 0 }
    for (const receiver of this.#peer?.getReceivers() ?? []) {
      if (receiver.track.kind !== 'audio') continue
      const stats = await receiver.getStats()
      stats.forEach((report: unknown) => {
        const { type, totalAudioEnergy = 0, totalSamplesDuration = 0 } = report as Heard
        if (type !== 'inbound-rtp') return
        heard.energy += totalAudioEnergy
        heard.seconds += totalSamplesDuration
      })
    }
    this.#heard = heard
    const seconds = heard.seconds - before.seconds
    return seconds > 0 ? Math.sqrt(Math.max(0, heard.energy - before.energy) / seconds) : 0
  }

  close(): void {
    this.#closed = true
    this.#peer?.close()
  }
}
