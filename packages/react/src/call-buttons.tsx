'use client'
import { LoquatError } from '@loquat/sdk/client'
import { useState } from 'react'
import { useCalls } from './calls-provider.tsx'
import { useStrings } from './chat.tsx'
import { Icon } from './icons.tsx'
import { useRoom } from './room.tsx'

/** Calls the user or group of the conversation. For the header of a channel. */
export function CallButtons() {
  const strings = useStrings()
  const { target, name } = useRoom()
  const { calls, current } = useCalls()
  const [problem, setProblem] = useState('')
  const start = (type: 'audio' | 'video') => {
    setProblem('')
    const receiver = { receiver: target.id, receiverType: target.type }
    calls?.start({ ...receiver, type }).catch((error) => {
      const isBusy = error instanceof LoquatError && /^ERR_CALL_BUSY_(USER|GROUP)$/.test(error.code)
      setProblem(isBusy ? strings.calls.busy(name) : strings.error)
    })
  }
  return (
    <>
      {problem && (
        <small className="lq-failed" role="alert">
          {problem}
        </small>
      )}
      {(['audio', 'video'] as const).map((type) => (
        <button
          key={type}
          type="button"
          className="lq-tool"
          aria-label={strings.calls.start[type]}
          title={strings.calls.start[type]}
          disabled={!calls || current !== undefined}
          onClick={() => start(type)}
        >
          <Icon name={type === 'video' ? 'camera' : 'phone'} />
        </button>
      ))}
    </>
  )
}
