'use client'
import type { CallParticipant, CallStream, CurrentCall } from '@loquat/sdk/calls'
import { LoquatError } from '@loquat/sdk/client'
import { useEffect, useRef, useState } from 'react'
import { Avatar } from './avatar.tsx'
import { useCalls, useNameOf } from './calls-provider.tsx'
import { useChat, useStrings } from './chat.tsx'
import { useUser } from './hooks/people.ts'
import { Icon, type IconName } from './icons.tsx'

/**
 * The call that this device is in: a grid of all participants, or who speaks with the others below, and the controls. Nothing
 * without a call.
 */
export function Call() {
  const { current } = useCalls()
  return current ? <OpenCall key={current.call.sessionId} current={current} /> : null
}

function OpenCall({ current }: { current: CurrentCall }) {
  const strings = useStrings()
  const { client } = useChat()
  const [isSmall, setSmall] = useState(false)
  const [isGrid, setGrid] = useState(true)
  const main = useMain(current)
  const { name } = useNameOf(current.call)
  const { calls: texts } = strings
  const { participants, phase, local, screen, speaker } = current
  // With one other picture, there is nothing to choose.
  const others = participants.length + participants.filter((one) => one.screen).length
  const hasMain = !isGrid && others > 1
  const { error } = current
  const problem = error && (error instanceof LoquatError ? texts.noMedia : texts.noDevices)
  const alone = phase === 'ongoing' && participants.length === 0 ? texts.alone : ''
  const status = problem || texts.phases[phase] || alone
  const resize = isSmall ? texts.larger : texts.smaller
  const arrange = isGrid ? texts.spotlight : texts.grid
  return (
    <section className="lq-call" aria-label={texts.with(name)} data-small={isSmall || undefined}>
      <header>
        <div className="lq-call-head">
          <h2 className="lq-clip">
            <bdi>{name}</bdi>
          </h2>
          <p role="status">
            {/* Whatever else there is to say, nobody may miss it. */}
            {current.recording && <span className="lq-call-recorded">{texts.recorded}</span>}
            {status && <span>{status}</span>}
          </p>
        </div>
        {others > 1 && (
          <button
            type="button"
            className="lq-tool"
            aria-label={arrange}
            title={arrange}
            onClick={() => setGrid(!isGrid)}
          >
            <Icon name={isGrid ? 'spotlight' : 'grid'} />
          </button>
        )}
        <button
          type="button"
          className="lq-tool"
          aria-label={resize}
          title={resize}
          onClick={() => setSmall(!isSmall)}
        >
          <Icon name={isSmall ? 'window' : 'down'} />
        </button>
      </header>
      <div className="lq-call-tiles" data-main={hasMain || undefined}>
        {participants.map(
          (one) =>
            one.screen && (
              <Tile
                key={`${one.uid} screen`}
                uid={one.uid}
                stream={one.screen}
                isMain={hasMain && one.screen === main}
                isScreen
                isShown
                isMuted={false}
              />
            ),
        )}
        {participants.map((one) => (
          <Tile
            key={`${one.uid} ${one.deviceId}`}
            uid={one.uid}
            stream={one.stream}
            isShown={one.video}
            isMuted={!one.audio}
            isSpeaking={speaker === one.uid}
            isMain={hasMain && one === main}
          />
        ))}
        <Tile
          uid={client.uid}
          stream={screen ?? local}
          isShown={current.camera || current.sharing}
          isMuted={!current.microphone}
          isScreen={current.sharing}
          isOwn
        />
      </div>
      <Controls current={current} />
    </section>
  )
}

/** What to show large: a shared screen, or who speaks or has spoken last. */
function useMain({ participants, speaker }: CurrentCall): CallParticipant | CallStream | undefined {
  const [last, setLast] = useState(speaker)
  if (speaker !== undefined && speaker !== last) setLast(speaker)
  const shared = participants.find((one) => one.screen)?.screen
  return shared ?? participants.find(({ uid }) => uid === last) ?? participants[0]
}

interface TileProps {
  uid: string
  stream: CallStream | undefined
  /** Whether there is a picture. */
  isShown: boolean
  isMuted: boolean
  isSpeaking?: boolean
  isMain?: boolean
  isScreen?: boolean
  /** This user's own picture, which is mirrored and makes no sound. */
  isOwn?: boolean
}

function Tile(props: TileProps) {
  const { uid, stream, isShown, isMuted, isSpeaking, isMain } = props
  const { isScreen = false, isOwn = false } = props
  const { strings, parts } = useChat()
  const name = useUser(uid)?.name ?? uid
  const video = useRef<HTMLVideoElement>(null)
  useEffect(() => {
    const element = video.current
    if (element && element.srcObject !== (stream ?? null)) element.srcObject = stream ?? null
  }, [stream])
  const AvatarPart = parts.Avatar ?? Avatar
  const shown = isOwn ? strings.you : isScreen ? strings.calls.screenOf(name) : name
  return (
    <figure
      className="lq-call-tile"
      data-speaking={isSpeaking || undefined}
      data-main={isMain || undefined}
      data-screen={isScreen || undefined}
      data-own={isOwn || undefined}
    >
      <video ref={video} autoPlay playsInline muted={isOwn} data-shown={isShown || undefined} />
      {!isShown && <AvatarPart id={uid} name={name} />}
      <figcaption>
        {isMuted && <Icon name="micOff" size={14} />}
        {isMuted && <span className="lq-hidden">{strings.calls.muted(shown)}</span>}
        <bdi className="lq-clip">{shown}</bdi>
      </figcaption>
    </figure>
  )
}

function Controls({ current }: { current: CurrentCall }) {
  const { calls: texts } = useStrings()
  const { calls } = useCalls()
  const { microphone, camera, sharing, call } = current
  const isVideo = call.type === 'video'
  // A user who doesn't allow it sees that in the browser.
  const act = (work: Promise<void> | undefined) => void work?.catch(() => undefined)
  const canShare = isVideo && 'getDisplayMedia' in (navigator.mediaDevices ?? {})
  return (
    <div className="lq-controls">
      <Switch
        name={texts.microphone}
        icon={microphone ? 'mic' : 'micOff'}
        isOn={microphone}
        onClick={() => act(calls?.setMicrophone(!microphone))}
      />
      {isVideo && (
        <Switch
          name={texts.camera}
          icon={camera ? 'camera' : 'cameraOff'}
          isOn={camera}
          onClick={() => act(calls?.setCamera(!camera))}
        />
      )}
      {canShare && (
        <Switch
          name={texts.share}
          icon="screen"
          isOn={sharing}
          isSharing
          onClick={() => act(calls?.shareScreen(!sharing))}
        />
      )}
      <button
        type="button"
        className="lq-round"
        data-danger
        aria-label={texts.hangUp}
        title={texts.hangUp}
        onClick={() => act(calls?.leave())}
      >
        <Icon name="phoneDown" size={20} />
      </button>
    </div>
  )
}

interface SwitchProps {
  name: string
  icon: IconName
  isOn: boolean
  /** Off is normal, so on is shown. For the others it's the other way round. */
  isSharing?: boolean
  onClick: () => void
}

const Switch = ({ name, icon, isOn, isSharing = false, onClick }: SwitchProps) => (
  <button
    type="button"
    className="lq-round"
    aria-label={name}
    title={name}
    aria-pressed={isOn}
    data-off={(!isSharing && !isOn) || undefined}
    data-sharing={(isSharing && isOn) || undefined}
    onClick={onClick}
  >
    <Icon name={icon} size={20} />
  </button>
)
