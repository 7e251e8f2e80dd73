import type { TestApp } from '../kit.ts'
import {
  type Ids,
  newId,
  type Resources,
  type Sample,
  type Samples,
  unusedMessageId,
  user,
} from './shared.ts'

/** A call that its called user has answered or rejected. */
async function inCall(app: TestApp, { sessionId, onBehalfOf }: Ids, act: string): Promise<Sample> {
  const headers = { onbehalfof: onBehalfOf ?? '' }
  await app.call('POST', `/v3/calls/${sessionId}/${act}`, { headers })
  return {}
}

export const resources: Resources = {
  sessionId: {
    async make(app) {
      const body = { receiver: await user.make(app, {}), type: 'audio' }
      const headers = { onbehalfof: await user.make(app, {}) }
      return (await app.call('POST', '/v3/calls', { body, headers })).body.data.sessionId
    },
    unknown: () => `v1.us.nowhere.${unusedMessageId()}`,
  },
  // The called user.
  'calls.onBehalfOf': {
    async make(app, ids) {
      if (ids.sessionId === undefined) return user.make(app, ids)
      return (await app.call('GET', `/v3/calls/${ids.sessionId}`)).body.data.receiver
    },
    unknown: newId,
  },
}

export const samples: Samples = {
  startCall: async (app) => ({
    body: {
      receiver: await user.make(app, {}),
      receiverType: 'user',
      type: 'video',
      deviceId: 'd-1',
    },
  }),
  joinCall: () => ({ body: { deviceId: 'd-2' } }),
  leaveCall: async (app, ids) => ({
    ...(await inCall(app, ids, 'join')),
    body: { deviceId: 'd-2' },
  }),
  rejectCall: () => ({ body: { status: 'busy' } }),
  cancelCall: async (app, ids) => {
    ids.onBehalfOf = (await app.call('GET', `/v3/calls/${ids.sessionId}`)).body.data.initiator
    return {}
  },
  endCall: (app, ids) => inCall(app, ids, 'join'),
  deleteCall: (app, ids) => inCall(app, ids, 'reject'),
  listCalls: () => ({ query: { type: 'audio', perPage: '10', page: '1' } }),
}
