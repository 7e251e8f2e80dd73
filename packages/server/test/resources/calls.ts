import { randomUUID } from 'node:crypto'
import type { TestApp } from '../kit.ts'
import { ANSWER, OFFER } from '../sdp.ts'
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

/** A file of the app that counts as checked. Nothing was uploaded. */
async function readyFile(app: TestApp): Promise<string> {
  const body = { name: 'call.txt', size: 5, mimeType: 'text/plain' }
  const { id } = (await app.call('POST', '/v3/files', { body })).body.data
  const text = `update files set state = 'ready' where app_no = $1 and id = $2`
  await app.cell.db.query({ name: '', text, values: [app.no, id] })
  return id
}

async function asInitiator(app: TestApp, ids: Ids): Promise<Sample> {
  ids.onBehalfOf = (await app.call('GET', `/v3/calls/${ids.sessionId}`)).body.data.initiator
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
  // What the caller sends, once the called user has joined.
  publicationId: {
    async make(app, { sessionId = '' }) {
      const { receiver, initiator } = (await app.call('GET', `/v3/calls/${sessionId}`)).body.data
      await inCall(app, { sessionId, onBehalfOf: receiver }, 'join')
      const body = { source: 'camera', audio: true, video: false, sdp: OFFER }
      const headers = { onbehalfof: initiator }
      const sent = await app.call('POST', `/v3/calls/${sessionId}/media`, { body, headers })
      return sent.body.data.publicationId
    },
    unknown: () => randomUUID(),
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
  cancelCall: asInitiator,
  endCall: (app, ids) => inCall(app, ids, 'join'),
  deleteCall: (app, ids) => inCall(app, ids, 'reject'),
  getCallMedia: (app, ids) => inCall(app, ids, 'join'),
  publishCallMedia: async (app, ids) => ({
    ...(await inCall(app, ids, 'join')),
    body: { source: 'camera', audio: true, video: false, sdp: OFFER },
  }),
  updateCallMedia: async (app, ids) => ({
    ...(await asInitiator(app, ids)),
    body: { audio: false, video: false },
  }),
  removeCallMedia: asInitiator,
  subscribeCallMedia: () => ({ body: {} }),
  answerCallMedia: async (app, { sessionId, publicationId, onBehalfOf = '' }) => {
    const path = `/v3/calls/${sessionId}/media/${publicationId}/subscribe`
    await app.call('POST', path, { body: {}, headers: { onbehalfof: onBehalfOf } })
    return { body: { sdp: ANSWER } }
  },
  addCallTranscription: async (app, ids) => {
    const { receiver } = (await app.call('GET', `/v3/calls/${ids.sessionId}`)).body.data
    await inCall(app, { ...ids, onBehalfOf: receiver }, 'join')
    return {
      body: { fileId: await readyFile(app), startTime: 1_700_000_000, endTime: 1_700_000_060 },
    }
  },
  startCallRecording: (app, ids) => inCall(app, ids, 'join'),
  stopCallRecording: (app, ids) => inCall(app, ids, 'join'),
  listCalls: () => ({ query: { type: 'audio', perPage: '10', page: '1' } }),
}
