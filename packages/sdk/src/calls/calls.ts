import type { LoquatClient } from '../client/client.ts'
import { callListener } from '../client/state-holder.ts'
import { LoquatError } from '../error.ts'
import type { CallRecord } from '../operations.gen.ts'
import { randomKey } from '../transport.ts'
import { Media } from './media.ts'
import type { Call, CallEvents, CallParticipant, CallsState, CurrentCall } from './state.ts'
import {
  type CallStream,
  type CallTrack,
  type MediaDevice,
  platformWebRtc,
  type WebRtc,
} from './web.ts'

export interface CallsOptions {
  /** What this device calls itself. Random by default, so that each tab of a browser is a device. */
  deviceId?: string
  /** WebRTC of a package, such as react-native-webrtc. Defaults to the browser's. */
  webrtc?: WebRtc
  /** How large a picture the camera should send. Defaults to 640 × 360. */
  video?: { width?: number; height?: number; frameRate?: number }
}

/** A call that this user makes. */
export interface NewCall {
  receiver: string
  /** Defaults to `user`. */
  receiverType?: 'user' | 'group'
  type: 'audio' | 'video'
  /** `call`, the default, rings. `meet` starts at once. In `presenter`, only the caller sends. */
  mode?: 'call' | 'meet' | 'presenter'
}

type Kind = 'audio' | 'video'
type Occupant = { uid: string; name: string; deviceId?: string }

/** How often to say that this device is in the call. The server misses it after 15 seconds. */
const ALIVE_MS = 5_000
/** How long a call rings. The server says when that is over; this is for a device that misses it. */
const RING_MS = 47_000
/** How many of the newest calls a device looks at to find those that ring. */
const RINGING = 5
/** How many calls' news are kept. */
const NEWS = 20
/** How often to look who speaks. */
const SPEAKER_MS = 1_000
/** Quieter than this (-40 dB) is noise. Somebody who speaks, with pauses, is at 0.02 or more. */
const SPEAKING = 0.01

/**
 * The calls of the user of a client: those that ring, and the one that this device is in, with its audio and video. Every
 * change replaces `state` with a new object and calls the listeners passed to `subscribe`.
 */
export class Calls {
  readonly deviceId: string
  state: CallsState = { incoming: [] }
  readonly #chat: LoquatClient
  readonly #web: () => WebRtc
  readonly #video: CallsOptions['video']
  readonly #listeners = new Set<() => void>()
  readonly #onEvent = new Map<keyof CallEvents, Set<(value: never) => void>>()
  readonly #unsubscribe: (() => void)[]
  #media: Media | undefined
  #occupants: Occupant[] = []
  /** Resolves when camera and microphone are open, or can't be. */
  #opened: Promise<void> = Promise.resolve()
  #opening = false
  #switching: Promise<void> = Promise.resolve()
  readonly #news = new Map<string, Call>()
  #hasLooked = false
  #isStopped = false
  #chosen: { audioinput?: string; videoinput?: string } = {}
  readonly #ringTimers = new Map<string, ReturnType<typeof setTimeout>>()
  #speakerTimer: ReturnType<typeof setInterval> | undefined
  #aliveTimer: ReturnType<typeof setInterval> | undefined

  constructor(chat: LoquatClient, options: CallsOptions = {}) {
    const { deviceId = randomKey(), webrtc, video = { width: 640, height: 360 } } = options
    this.#chat = chat
    this.#video = video
    this.deviceId = deviceId
    this.#web = () => webrtc ?? platformWebRtc()
    let { connection } = chat.state
    this.#unsubscribe = [
      chat.on('call.incoming', ({ call }) => this.#ring(call)),
      chat.on('call.accepted', (body) => this.#answered(body)),
      chat.on('call.silenced', ({ call, deviceId }) => {
        if (deviceId !== this.deviceId) this.#silence(call.sessionId)
      }),
      chat.on('call.cancelled', ({ call, replacedBy }) => void this.#cancelled(call, replacedBy)),
      ...(['rejected', 'busy', 'unanswered', 'ended'] as const).map((status) =>
        chat.on(`call.${status}`, ({ call }) => this.#over(call)),
      ),
      chat.on('meeting.ended', ({ call }) => this.#over(call)),
      ...(['call', 'meeting'] as const).flatMap((prefix) => [
        chat.on(`${prefix}.participant.joined`, (body) => this.#moved(body, true)),
        chat.on(`${prefix}.participant.left`, (body) => this.#moved(body, false)),
      ]),
      chat.on('call.media', ({ sessionId, ...list }) => {
        if (sessionId === this.#sessionId) this.#media?.apply(list)
      }),
      chat.subscribe(() => {
        const before = connection
        connection = chat.state.connection
        if (connection === 'online' && before !== 'online') {
          void this.#resume()
          void this.#findRinging()
        }
        if (connection === 'signedOut' || connection === 'refused') this.#expelled()
      }),
    ]
    if (connection === 'online') void this.#findRinging()
  }

  /** Calls the listener after each change. Returns a function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Calls the listener with each event of a type. Returns a function that unsubscribes. */
  on<T extends keyof CallEvents>(type: T, listener: (value: CallEvents[T]) => void): () => void {
    const all = this.#onEvent.get(type) ?? new Set()
    this.#onEvent.set(type, all.add(listener))
    return () => void all.delete(listener)
  }

  /** Calls a user or a group. Rejects if that isn't possible, for example with ERR_CALL_BUSY_USER. */
  async start(wanted: NewCall): Promise<void> {
    const { deviceId } = this
    const record = await this.#chat.api.calls.start({ ...wanted, deviceId })
    // Somebody who calls with audio doesn't expect the camera if the other one calls with video at the same moment.
    this.#enter(record, wanted.type === 'video')
  }

  /**
   * Answers a call that rings, or joins one that is going on. With `transfer`, takes it over from the user's other device.
   */
  async join(sessionId: string, { transfer = false } = {}): Promise<void> {
    const body = { deviceId: this.deviceId, ...(transfer && { transfer }) }
    const record = await this.#chat.api.calls.join(sessionId, body)
    this.#enter(record)
  }

  /** Declines a call that rings. */
  async reject(sessionId: string): Promise<void> {
    this.#silence(sessionId)
    await this.#chat.api.calls.reject(sessionId, { status: 'rejected' })
  }

  /** Hangs up: cancels a call that nobody has answered, or leaves it. */
  async leave(): Promise<void> {
    const { current } = this.state
    if (!current) return
    const { calls } = this.#chat.api
    const { sessionId } = current.call
    this.#close(current.call)
    if (current.phase === 'ringing') {
      // If somebody answers at this moment, there is a call to leave.
      await calls.cancel(sessionId).catch((error) => {
        if (error?.code !== 'ERR_CALL_ONGOING_TO_INVALID') throw error
        return calls.leave(sessionId, { deviceId: this.deviceId })
      })
    } else await calls.leave(sessionId, { deviceId: this.deviceId })
  }

  /** Ends the call for everyone. */
  async end(): Promise<void> {
    const { current } = this.state
    if (!current) return
    await this.#chat.api.calls.end(current.call.sessionId)
    this.#close(current.call)
  }

  /** Switches the microphone on or off. */
  setMicrophone(on: boolean): Promise<void> {
    return this.#switch('audio', on)
  }

  /** Switches the camera on or off. Off, the browser releases the camera. */
  setCamera(on: boolean): Promise<void> {
    return this.#switch('video', on)
  }

  /**
   * Records what everyone sends, or stops it. In a group, only the caller, admins and moderators may do that. Everyone sees
   * it in `recording` of their call.
   */
  async setRecording(on: boolean): Promise<void> {
    const { calls } = this.#chat.api
    const { sessionId } = this.#current.call
    await (on ? calls.startRecording(sessionId) : calls.stopRecording(sessionId))
  }

  /** Shares the screen, or stops it. The browser asks the user what to share. */
  async shareScreen(on: boolean): Promise<void> {
    const { current } = this.state
    if (!current || !this.#media || current.sharing === on) return
    if (!on) {
      this.#update({ sharing: false, screen: undefined })
      await this.#media.stop('screen')
      return
    }
    const media = this.#media
    const screen = await this.#web().mediaDevices.getDisplayMedia({ video: true, audio: false })
    // The call may be over when the user has chosen.
    if (media !== this.#media) {
      for (const track of screen.getTracks()) track.stop()
      return
    }
    // The user stops it in the browser.
    for (const track of screen.getVideoTracks())
      track.addEventListener('ended', () => void this.shareScreen(false).catch(() => undefined))
    this.#update({ sharing: true, screen })
    media.send('screen', screen, ['video'], { audio: false, video: true })
    await media.open()
  }

  /** The cameras, microphones and loudspeakers of this device. They have names once the user has allowed their use. */
  devices(): Promise<MediaDevice[]> {
    return this.#web().mediaDevices.enumerateDevices() as Promise<MediaDevice[]>
  }

  /** Uses another camera or microphone, now and in later calls. */
  async use({ kind, deviceId }: Pick<MediaDevice, 'kind' | 'deviceId'>): Promise<void> {
    if (kind === 'audiooutput') return
    this.#chosen = { ...this.#chosen, [kind]: deviceId }
    const { current } = this.state
    const switched = kind === 'audioinput' ? 'audio' : 'video'
    const on = switched === 'audio' ? current?.microphone : current?.camera
    if (current && on) await this.#inTurn(() => this.#replace(switched, true))
  }

  /** Leaves the call and stops listening to the client. */
  stop(): void {
    this.#isStopped = true
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    for (const { sessionId } of this.state.incoming) this.#silence(sessionId)
    void this.leave().catch(() => undefined)
  }

  get #sessionId(): string | undefined {
    return this.state.current?.call.sessionId
  }

  #set(state: CallsState): void {
    this.state = state
    for (const listener of this.#listeners) callListener(listener)
  }

  #emit<T extends keyof CallEvents>(type: T, value: CallEvents[T]): void {
    for (const listener of this.#onEvent.get(type) ?? [])
      callListener(() => listener(value as never))
  }

  #update(changes: { [K in keyof CurrentCall]?: CurrentCall[K] | undefined }): void {
    const { current } = this.state
    if (!current) return
    const changed = { ...current, ...changes } as CurrentCall
    this.#set({ ...this.state, current: changed })
  }

  #ring(call: Call): void {
    const own = call.callInitiator === this.#chat.uid
    const known = this.state.incoming.some(({ sessionId }) => sessionId === call.sessionId)
    if (own || known || call.sessionId === this.#sessionId) return
    const stop = () => this.#silence(call.sessionId)
    this.#ringTimers.set(call.sessionId, setTimeout(stop, ringTimeOf(call)))
    this.#set({ ...this.state, incoming: [...this.state.incoming, call] })
    this.#emit('incoming', call)
  }

  /**
   * Calls that rang before this device was connected the first time, for example because a notification opened the app. Later
   * ones come as events, also after a gap.
   */
  async #findRinging(): Promise<void> {
    if (this.#hasLooked) return
    this.#hasLooked = true
    const own = this.#chat.uid
    // They are the newest. An app can forbid lists, and then there is nothing to find.
    const page = await this.#chat.api.calls.list({ perPage: RINGING }).catch(() => undefined)
    for (const record of this.#isStopped ? [] : (page?.data ?? [])) {
      const age = Date.now() - record.initiatedAt * 1_000
      // In a group, nobody sees in the record of a call that goes on whether it still rings.
      const stillRings = record.status === 'initiated' || (age >= 0 && age < RING_MS)
      const isOver = this.#news.has(record.sessionId)
      if (!isOver && stillRings && rings(record, own)) this.#ring(callOf(record))
    }
  }

  #silence(sessionId: string): void {
    const call = this.state.incoming.find((one) => one.sessionId === sessionId)
    if (!call) return
    clearTimeout(this.#ringTimers.get(sessionId))
    this.#ringTimers.delete(sessionId)
    const incoming = this.state.incoming.filter((one) => one !== call)
    this.#set({ ...this.state, incoming })
    this.#emit('stopped', call)
  }

  /** Somebody answered: the called user, or this user on another device. */
  #answered({ call, by, deviceId }: { call: Call; by: string; deviceId?: string }): void {
    const mine = by === this.#chat.uid
    if (mine && deviceId !== this.deviceId) this.#silence(call.sessionId)
    this.#note(call)
    const { current } = this.state
    if (current?.phase !== 'ringing' || call.sessionId !== this.#sessionId) return
    this.#update({ call, phase: 'connecting' })
    void this.#connect()
  }

  /** Two users who call each other get one call, that of the lower uid. */
  async #cancelled(call: Call, replacedBy: string | undefined): Promise<void> {
    const isCurrent = () => call.sessionId === this.#sessionId
    const record =
      replacedBy !== undefined && isCurrent()
        ? await this.#chat.api.calls.get(replacedBy).catch(() => undefined)
        : undefined
    if (record && isCurrent()) this.#enter(record, call.type === 'video')
    else this.#over(call)
  }

  /** Keeps what happened to calls whose record this device may still be waiting for. */
  #note(call: Call): void {
    this.#news.set(call.sessionId, call)
    const [oldest] = this.#news.keys()
    if (this.#news.size > NEWS && oldest !== undefined) this.#news.delete(oldest)
  }

  /** This device may not be in the call any more. */
  #expelled(): void {
    const { current } = this.state
    if (current) this.#close(current.call)
  }

  #over(call: Call): void {
    this.#note(call)
    this.#silence(call.sessionId)
    if (call.sessionId === this.#sessionId) this.#close(call)
  }

  #moved(body: { call: Call; occupant: Occupant; transferred?: true }, joined: boolean): void {
    const { call, occupant } = body
    if (call.sessionId !== this.#sessionId) return
    const { uid, deviceId } = occupant
    const others = this.#occupants.filter((one) => one.uid !== uid || one.deviceId !== deviceId)
    if (uid === this.#chat.uid) {
      // The call has moved to another device, or somebody took this user out.
      if (!joined && deviceId === this.deviceId) this.#close(call)
      return
    }
    this.#occupants = joined ? [...others, occupant] : others
    this.#show()
  }

  #enter(record: CallRecord, video = true): void {
    this.#silence(record.sessionId)
    if (this.state.current) this.#close(this.state.current.call)
    const call = this.#news.get(record.sessionId) ?? callOf(record)
    if (call.status !== 'initiated' && call.status !== 'ongoing') {
      this.#emit('ended', call)
      return
    }
    const phase = call.status === 'initiated' ? 'ringing' : 'connecting'
    this.#occupants = occupantsOf(record, this.#chat.uid)
    const sends = record.mode !== 'presenter' || record.initiator === this.#chat.uid
    const current: CurrentCall = {
      ...{ call, phase, microphone: sends, camera: sends && video && record.type === 'video' },
      ...{ sharing: false, recording: false, participants: [] },
    }
    this.#set({ ...this.state, current })
    const live = () => this.#chat.callAlive(call.sessionId, this.deviceId)
    live()
    clearInterval(this.#aliveTimer)
    this.#aliveTimer = setInterval(live, ALIVE_MS)
    this.#opening = true
    this.#opened = this.#open(sends)
    if (phase === 'connecting') void this.#connect()
  }

  /** Opens camera and microphone while the call rings, so that nothing has to be waited for after the answer. */
  async #open(sends: boolean): Promise<void> {
    const sessionId = this.#sessionId
    const local = sends ? await this.#capture() : undefined
    if (sessionId !== this.#sessionId) {
      for (const track of local?.getTracks() ?? []) track.stop()
      return
    }
    // The user may have switched them meanwhile.
    const { microphone, camera } = this.#current
    for (const track of local?.getAudioTracks() ?? []) track.enabled = microphone
    for (const track of camera ? [] : (local?.getVideoTracks() ?? [])) {
      local?.removeTrack(track as never)
      track.stop()
    }
    this.#opening = false
    this.#update({ local })
  }

  /** Without camera or microphone the user takes part with what there is. */
  async #capture(): Promise<CallStream | undefined> {
    const { current } = this.state
    if (!current) return undefined
    const { microphone, camera } = current
    try {
      return await this.#captured(microphone, camera)
    } catch (error) {
      const audioOnly = camera
        ? await this.#captured(true, false).catch(() => undefined)
        : undefined
      const on = this.state.current?.microphone && audioOnly !== undefined
      this.#update({ camera: false, microphone: on ?? false, error: error as Error })
      this.#emit('error', error as Error)
      return audioOnly
    }
  }

  async #captured(audio: boolean, video: boolean): Promise<CallStream> {
    const { audioinput, videoinput } = this.#chosen
    const { mediaDevices } = this.#web()
    return mediaDevices.getUserMedia({
      audio: audio && (audioinput ? { deviceId: { exact: audioinput } } : true),
      video: video && {
        ...this.#video,
        ...(videoinput && { deviceId: { exact: videoinput } }),
      },
    })
  }

  async #connect(): Promise<void> {
    const { current } = this.state
    if (!current || this.#media) return
    const { calls: api } = this.#chat.api
    const { sessionId, type } = current.call
    try {
      const web = this.#web()
      const line = { api, web, sessionId, deviceId: this.deviceId }
      const media = new Media(line, this.#chat.uid, {
        onChange: () => this.#show(),
        onOver: () => {
          if (this.#media === media) this.#expelled()
        },
      })
      this.#media = media
      await this.#opened
      if (this.#media !== media) return
      const { local = new web.MediaStream(), microphone: audio, camera: video } = this.#current
      const kinds: Kind[] = type === 'video' ? ['audio', 'video'] : ['audio']
      const sends = this.#current.call.mode !== 'presenter' || this.#isCaller
      if (sends) media.send('camera', local, kinds, { audio, video })
      this.#speakerTimer ??= setInterval(() => void this.#findSpeaker(), SPEAKER_MS)
      await media.open()
    } catch (error) {
      if (this.#sessionId !== sessionId) return
      this.#update({ error: error as Error })
      this.#emit('error', error as Error)
    }
  }

  get #current(): CurrentCall {
    const { current } = this.state
    if (!current) throw new Error('This device is in no call.')
    return current
  }

  get #isCaller(): boolean {
    return this.state.current?.call.callInitiator === this.#chat.uid
  }

  /** Builds the state from what is sent and received. */
  #show(): void {
    const { current } = this.state
    const media = this.#media
    if (!current) return
    const participants = this.#occupants.map((occupant) => participantOf(occupant, media))
    const error = media?.error ?? (current.error instanceof LoquatError ? undefined : current.error)
    const connected = media?.connected ?? false
    const before = current.phase
    const lost = before === 'connecting' ? before : 'reconnecting'
    const phase = before === 'ringing' ? before : connected && !media?.error ? 'ongoing' : lost
    const recording = media?.recording ?? false
    this.#update({ participants, phase, error, recording })
  }

  async #findSpeaker(): Promise<void> {
    const media = this.#media
    let loudest = SPEAKING
    let speaker: string | undefined
    for (const { id, uid, audio } of media?.publications ?? []) {
      const level = audio ? ((await media?.received(id)?.level()) ?? 0) : 0
      if (level > loudest) [loudest, speaker] = [level, uid]
    }
    if (media === this.#media && speaker !== this.state.current?.speaker) this.#update({ speaker })
  }

  #switch(kind: Kind, on: boolean): Promise<void> {
    if (this.#opening) {
      this.#update(kind === 'audio' ? { microphone: on } : { camera: on })
      return Promise.resolve()
    }
    return this.#inTurn(() => this.#switchNow(kind, on))
  }

  /** One after the other, since a camera takes time to open. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#switching.then(work)
    this.#switching = done.catch(() => undefined)
    return done
  }

  async #switchNow(kind: Kind, on: boolean): Promise<void> {
    const { current } = this.state
    if (!current) return
    const was = kind === 'audio' ? current.microphone : current.camera
    if (was === on || (kind === 'video' && current.call.type === 'audio')) return
    await this.#replace(kind, on)
  }

  async #replace(kind: Kind, on: boolean): Promise<void> {
    const sessionId = this.#sessionId
    const { local: stream } = this.#current
    const old = stream && tracksOf(stream, kind)[0]
    // A microphone that is off keeps its track: speaking again takes no time.
    const keeps = kind === 'audio' && old && on !== this.#current.microphone
    const track = keeps ? old : on ? tracksOf(await this.#capturedOnly(kind), kind)[0] : undefined
    if (keeps) old.enabled = on
    if (sessionId !== this.#sessionId) {
      if (!keeps) track?.stop()
      return
    }
    const local = keeps ? stream : this.#swapped(stream, old, track)
    this.#update({ local, ...(kind === 'audio' ? { microphone: on } : { camera: on }) })
    const { microphone: audio, camera: video } = this.#current
    await this.#media?.switch({ audio, video }, kind, track ?? null)
  }

  #capturedOnly(kind: Kind): Promise<CallStream> {
    return this.#captured(kind === 'audio', kind === 'video')
  }

  /** Changes the stream in place, because the connection sends it. */
  #swapped(
    stream: CallStream | undefined,
    old: CallTrack | undefined,
    track: CallTrack | undefined,
  ): CallStream {
    const changed = stream ?? new (this.#web().MediaStream)()
    if (old) {
      changed.removeTrack(old as never)
      old.stop()
    }
    if (track) changed.addTrack(track as never)
    return changed
  }

  /** After a gap the call may be over, or others may have come and gone. */
  async #resume(): Promise<void> {
    const sessionId = this.#sessionId
    const ringing = this.state.incoming.map((call) => call.sessionId)
    const { calls } = this.#chat.api
    for (const id of ringing) {
      const record = await calls.get(id).catch(() => undefined)
      if (record && !rings(record, this.#chat.uid)) this.#silence(id)
    }
    if (sessionId === undefined) return
    const record = await calls.get(sessionId).catch(() => undefined)
    if (!record || sessionId !== this.#sessionId) return
    const inside = record.participants.some(
      ({ uid, deviceId, state }) =>
        uid === this.#chat.uid && deviceId === this.deviceId && state === 'ongoing',
    )
    if (record.status === 'initiated') return
    if (record.status !== 'ongoing' || !inside) {
      this.#close(callOf(record))
      return
    }
    const names = new Map(this.#occupants.map(({ uid, name }) => [uid, name]))
    this.#occupants = occupantsOf(record, this.#chat.uid, names)
    if (this.#current.phase === 'ringing') this.#update({ phase: 'connecting' })
    if (this.#media) await this.#media.open().catch(() => undefined)
    else await this.#connect()
    this.#show()
  }

  #close(call: Call): void {
    const { current, ...rest } = this.state
    if (!current) return
    clearInterval(this.#aliveTimer)
    clearInterval(this.#speakerTimer)
    this.#speakerTimer = undefined
    this.#media?.close()
    this.#media = undefined
    this.#occupants = []
    for (const stream of [current.local, current.screen])
      for (const track of stream?.getTracks() ?? []) track.stop()
    this.#set(rest)
    this.#emit('ended', call)
  }
}

const tracksOf = (stream: CallStream, kind: Kind): CallTrack[] =>
  (kind === 'audio' ? stream.getAudioTracks() : stream.getVideoTracks()) as CallTrack[]

/** A device whose clock is wrong lets it ring for the whole time. */
function ringTimeOf({ initiatedAt }: Call): number {
  const age = Date.now() - initiatedAt * 1_000
  return age > 0 && age < RING_MS ? RING_MS - age : RING_MS
}

/** Whether a call may still ring for a user. In a group it goes on after the first answer. */
const rings = ({ status, receiverType, participants }: CallRecord, own: string): boolean =>
  (status === 'initiated' || (status === 'ongoing' && receiverType === 'group')) &&
  participants.some(({ uid, state }) => uid === own && state === 'unanswered')

/** The record as events show a call. */
const callOf = (record: CallRecord): Call => ({
  sessionId: record.sessionId,
  callInitiator: record.initiator,
  callReceiver: record.receiver,
  receiverType: record.receiverType,
  type: record.type,
  mode: record.mode,
  status: record.status,
  initiatedAt: record.initiatedAt,
  ...(record.startedAt !== undefined && { joinedAt: record.startedAt }),
  ...(record.endedAt !== undefined && { endedAt: record.endedAt }),
})

const occupantsOf = (
  { participants }: CallRecord,
  own: string,
  names = new Map<string, string>(),
): Occupant[] =>
  participants
    .filter(({ uid, state }) => uid !== own && state === 'ongoing')
    .map(({ uid, deviceId }) => ({
      ...{ uid, name: names.get(uid) ?? uid },
      ...(deviceId !== undefined && { deviceId }),
    }))

function participantOf(occupant: Occupant, media: Media | undefined): CallParticipant {
  const { uid, name, deviceId } = occupant
  const sent = media?.publications.filter((one) => one.uid === uid && one.deviceId === deviceId)
  const camera = sent?.find(({ source }) => source === 'camera')
  const shared = sent?.find(({ source }) => source === 'screen')
  const stream = camera && media?.received(camera.id)
  const screen = shared && media?.received(shared.id)?.stream
  return {
    ...{ uid, name, audio: camera?.audio ?? false, video: camera?.video ?? false },
    ...(deviceId !== undefined && { deviceId }),
    ...(stream && { stream: stream.stream }),
    ...(screen && { screen }),
    connected: stream?.connected ?? false,
  }
}
