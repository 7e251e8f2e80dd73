import type { Peer } from './web.ts'

/** Most addresses of a device are found at once. A relay that doesn't answer isn't waited for. */
const GATHER_MS = 2_000
/** How long a connection may be interrupted before it is made again. */
const HEAL_MS = 4_000

/** The local description with all candidates. */
export async function gathered(peer: Peer): Promise<string> {
  if (peer.iceGatheringState !== 'complete') {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, GATHER_MS)
      peer.addEventListener('icegatheringstatechange', () => {
        if (peer.iceGatheringState !== 'complete') return
        clearTimeout(timer)
        resolve()
      })
    })
  }
  return peer.localDescription?.sdp ?? ''
}

/** Calls `onLost` once, when a connection failed or was interrupted for too long. */
export function watch(peer: Peer, onChange: () => void, onLost: () => void): void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let lost = false
  const lose = () => {
    if (lost || peer.connectionState === 'closed') return
    lost = true
    onLost()
  }
  peer.addEventListener('connectionstatechange', () => {
    onChange()
    clearTimeout(timer)
    if (peer.connectionState === 'failed') lose()
    if (peer.connectionState === 'disconnected') timer = setTimeout(lose, HEAL_MS)
  })
}
