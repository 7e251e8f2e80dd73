/**
 * The parts of WebRTC that calls use. In projects with the types of browsers, they are those; in others, these here, so
 * that packages for React Native fit.
 */

/** A type of the platform if the project knows it. */
type Platform<Name extends string, Otherwise> =
  typeof globalThis extends Record<Name, { prototype: infer T }> ? T : Otherwise

interface Target {
  addEventListener(type: string, listener: () => void): void
}

interface TrackLike extends Target {
  readonly kind: string
  enabled: boolean
  stop(): void
}

interface StreamLike {
  getTracks(): CallTrack[]
  getAudioTracks(): CallTrack[]
  getVideoTracks(): CallTrack[]
  addTrack(track: CallTrack): void
  removeTrack(track: CallTrack): void
}

interface DescriptionLike {
  type: 'offer' | 'answer' | 'pranswer' | 'rollback'
  sdp: string
}

interface SenderLike {
  readonly track: CallTrack | null
  replaceTrack(track: CallTrack | null): Promise<void>
}

interface PeerLike extends Target {
  readonly connectionState: string
  readonly iceGatheringState: string
  readonly localDescription: DescriptionLike | null
  addTransceiver(
    track: CallTrack | 'audio' | 'video',
    init: { direction: 'sendonly'; streams?: CallStream[] },
  ): { sender: SenderLike }
  getReceivers(): {
    track: CallTrack
    getStats(): Promise<{ forEach(visit: (report: unknown) => void): void }>
  }[]
  createOffer(): Promise<{ type: 'offer'; sdp?: string } | DescriptionLike>
  createAnswer(): Promise<{ type: 'answer'; sdp?: string } | DescriptionLike>
  setLocalDescription(): Promise<void>
  setRemoteDescription(description: { type: 'offer' | 'answer'; sdp: string }): Promise<void>
  close(): void
}

/** A `MediaStreamTrack`. */
export type CallTrack = Platform<'MediaStreamTrack', TrackLike>
/** A `MediaStream`: the `srcObject` of a video element. */
export type CallStream = Platform<'MediaStream', StreamLike>
export type Peer = Platform<'RTCPeerConnection', PeerLike>
export type Sender = Platform<'RTCRtpSender', SenderLike>

type Choice =
  | boolean
  | { deviceId?: { exact: string }; width?: number; height?: number; frameRate?: number }

/** A camera, a microphone or a loudspeaker. */
export interface MediaDevice {
  readonly deviceId: string
  readonly kind: 'audioinput' | 'audiooutput' | 'videoinput'
  /** Empty until the user has allowed its use. */
  readonly label: string
}

export interface MediaDevicesLike {
  getUserMedia(wanted: { audio?: Choice; video?: Choice }): Promise<CallStream>
  getDisplayMedia(wanted: { video: boolean; audio: boolean }): Promise<CallStream>
  enumerateDevices(): Promise<MediaDevice[]>
}

export interface Ice {
  urls: string[]
  username?: string
  credential?: string
}

/** WebRTC as the platform provides it, or as a package does. */
export interface WebRtc {
  RTCPeerConnection: new (config: { iceServers: Ice[] }) => Peer
  MediaStream: new (tracks?: CallTrack[]) => CallStream
  mediaDevices: MediaDevicesLike
}

export function platformWebRtc(): WebRtc {
  const { RTCPeerConnection, MediaStream, navigator } = globalThis as unknown as WebRtc & {
    navigator?: { mediaDevices?: MediaDevicesLike }
  }
  const mediaDevices = navigator?.mediaDevices
  if (!RTCPeerConnection || !mediaDevices)
    throw new Error('This platform has no WebRTC. Browsers provide it on https pages only.')
  return { RTCPeerConnection, MediaStream, mediaDevices }
}
