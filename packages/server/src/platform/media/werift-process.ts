/**
 * A media server in one process, for development: forwards RTP packets between WebRTC connections. Its parent calls its
 * methods in messages. In a process of its own, because packets must not wait for requests, nor requests for packets.
 */
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type MediaStreamTrack, RTCPeerConnection, useOPUS, useVP8 } from 'werift'
import { TrackWriter } from './track-writer.ts'

interface Publisher {
  room: string
  pc: RTCPeerConnection
  tracks: { track: MediaStreamTrack; requestFrame: () => void }[]
  /** Ends what is recorded of it. */
  endRecording: () => void
}

const publishers = new Map<string, Publisher>()
const subscribers = new Map<string, { room: string; pc: RTCPeerConnection }>()

const FEEDBACK = [
  { type: 'nack' },
  { type: 'nack', parameter: 'pli' },
  { type: 'ccm', parameter: 'fir' },
  { type: 'goog-remb' },
]
/** A device that gathers slowly isn't waited for: candidates of this machine are there at once. */
const GATHER_MS = 2_000

const connect = () =>
  new RTCPeerConnection({
    codecs: { audio: [useOPUS()], video: [useVP8({ rtcpFeedback: FEEDBACK })] },
    iceServers: [],
    iceUseIpv6: false,
    // Browsers on this machine, also without a network.
    iceAdditionalHostAddresses: ['127.0.0.1'],
  })

async function gathered(pc: RTCPeerConnection): Promise<string> {
  if (pc.iceGatheringState !== 'complete') {
    const done = new Promise<void>((resolve) => {
      pc.iceGatheringStateChange.subscribe((state) => state === 'complete' && resolve())
    })
    await Promise.race([done, new Promise((resolve) => setTimeout(resolve, GATHER_MS))])
  }
  return pc.localDescription?.sdp ?? ''
}

/** A connection that failed is of no use: the device makes a new one. */
function forgetWhenOver(pc: RTCPeerConnection, forget: () => void): void {
  pc.connectionStateChange.subscribe((state) => {
    if (state === 'failed' || state === 'closed') forget()
  })
}

/** Records all tracks. Returns a function that ends it. */
function begin({ tracks }: Publisher, path: string): () => void {
  const ends = tracks.map(({ track, requestFrame }, index) => {
    const kind = track.kind as 'audio' | 'video'
    const codec = kind === 'audio' ? 'opus' : 'vp8'
    const writer = new TrackWriter(`${path}-${kind}-${index}.mjr`, kind, codec)
    const { unSubscribe } = track.onReceiveRtp.subscribe((packet) =>
      writer.write(packet.serialize()),
    )
    requestFrame()
    return () => {
      unSubscribe()
      writer.end()
    }
  })
  return () => {
    for (const end of ends) end()
  }
}

const methods = {
  async publish(room: string, offer: string) {
    const pc = connect()
    const handle = randomUUID()
    const publisher: Publisher = { room, pc, tracks: [], endRecording() {} }
    pc.onRemoteTransceiverAdded.subscribe((transceiver) => {
      transceiver.setDirection('recvonly')
      transceiver.onTrack.subscribe((track) => {
        const requestFrame = () => {
          if (track.kind === 'video' && track.ssrc)
            void transceiver.receiver.sendRtcpPLI(track.ssrc)
        }
        publisher.tracks.push({ track, requestFrame })
      })
    })
    try {
      await pc.setRemoteDescription({ type: 'offer', sdp: offer })
      await pc.setLocalDescription(await pc.createAnswer())
    } catch (error) {
      await pc.close()
      throw Object.assign(error as Error, { refused: true })
    }
    publishers.set(handle, publisher)
    forgetWhenOver(pc, () => {
      publisher.endRecording()
      publishers.delete(handle)
    })
    return { handle, sdp: await gathered(pc) }
  },

  async subscribe(_room: string, publisher: string) {
    const from = publishers.get(publisher)
    if (!from) throw Object.assign(new Error('no such publisher'), { gone: true })
    const pc = connect()
    const handle = randomUUID()
    for (const { track, requestFrame } of from.tracks) {
      const { sender } = pc.addTransceiver(track.kind as 'audio' | 'video', {
        direction: 'sendonly',
      })
      const { unSubscribe } = track.onReceiveRtp.subscribe((packet) => {
        void sender.sendRtp(packet.clone())
      })
      sender.onPictureLossIndication.subscribe(requestFrame)
      pc.connectionStateChange.subscribe((state) => {
        if (state === 'connected') requestFrame()
        if (state === 'failed' || state === 'closed') unSubscribe()
      })
    }
    await pc.setLocalDescription(await pc.createOffer())
    subscribers.set(handle, { room: from.room, pc })
    forgetWhenOver(pc, () => subscribers.delete(handle))
    return { handle, sdp: await gathered(pc) }
  },

  async answer(handle: string, sdp: string) {
    const found = subscribers.get(handle)
    if (!found) throw Object.assign(new Error('no such subscriber'), { gone: true })
    // A retry.
    if (found.pc.signalingState === 'stable') return
    try {
      await found.pc.setRemoteDescription({ type: 'answer', sdp })
    } catch (error) {
      throw Object.assign(error as Error, { refused: true })
    }
  },

  async record(handle: string, folder: string, name: string) {
    const publisher = publishers.get(handle)
    if (!publisher) throw Object.assign(new Error('no such publisher'), { gone: true })
    publisher.endRecording()
    publisher.endRecording = name ? begin(publisher, join(folder, publisher.room, name)) : () => {}
  },

  async drop(handle: string) {
    publishers.get(handle)?.endRecording()
    const found = publishers.get(handle) ?? subscribers.get(handle)
    publishers.delete(handle)
    subscribers.delete(handle)
    await found?.pc.close()
  },

  async close(room: string) {
    for (const all of [publishers, subscribers]) {
      for (const [handle, one] of all) if (one.room === room) await methods.drop(handle)
    }
  },

  load: async () => publishers.size,
}

interface Call {
  id: number
  method: keyof typeof methods
  args: string[]
}

process.on('message', async ({ id, method, args }: Call) => {
  const act = methods[method] as (...args: string[]) => Promise<unknown>
  try {
    process.send?.({ id, result: await act(...args) })
  } catch (error) {
    const { message, gone, refused } = error as Error & { gone?: true; refused?: true }
    process.send?.({ id, error: message, gone, refused })
  }
})
// The parent is gone.
process.on('disconnect', () => process.exit())
// Ctrl-C reaches the whole group of processes. The parent drains and then disconnects.
process.on('SIGINT', () => {})
