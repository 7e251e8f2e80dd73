/** Calls between two users and in a group. */
import { ANSWER, OFFER } from '../sdp.ts'
import { uploadText } from './files.ts'
import type { Story } from './story.ts'

export async function makeCalls(story: Story, port: number): Promise<void> {
  const call = { receiver: 'ben', receiverType: 'user', type: 'video' }
  const first = await story.show('startCall', {
    as: 'amira',
    body: { ...call, deviceId: 'amira-laptop' },
  })
  const ids = { sessionId: first.sessionId }
  await story.show('joinCall', { ids, as: 'ben', body: { deviceId: 'ben-phone' } })
  await story.show('joinCall', {
    title: 'The call was answered elsewhere',
    ...{ ids, as: 'ben', body: { deviceId: 'ben-tablet' }, status: 409 },
  })
  await story.show('joinCall', {
    title: 'Move the call to another device',
    ...{ ids, as: 'ben', body: { deviceId: 'ben-tablet', transfer: true } },
  })
  await story.show('startCall', {
    title: 'The user is in another call',
    ...{ as: 'cleo', body: { ...call, type: 'audio' }, status: 409 },
  })
  const own = { ids, as: 'amira', query: { deviceId: 'amira-laptop' } }
  const sent = await story.show('publishCallMedia', {
    ...{ ids, as: 'amira' },
    body: {
      ...{ deviceId: 'amira-laptop', source: 'camera', audio: true, video: true, sdp: OFFER },
    },
  })
  await story.show('getCallMedia', own)
  const publication = { ...ids, publicationId: sent.publicationId }
  const receiving = { ids: publication, as: 'ben' }
  const deviceId = 'ben-tablet'
  await story.show('subscribeCallMedia', { ...receiving, body: { deviceId } })
  await story.show('answerCallMedia', { ...receiving, body: { deviceId, sdp: ANSWER } })
  const [server] = await story.run('listCallServers')
  // The name depends on the secret of the installation.
  await story.show('listCallServers', { masks: { [server.name]: 'media-5f0c2a91' } })
  await story.show('updateCallMedia', {
    title: 'Mute the microphone',
    ...{ ids: publication, as: 'amira' },
    body: { deviceId: 'amira-laptop', audio: false, video: true },
  })
  await story.show('startCallRecording', { ids, as: 'amira' })
  await story.show('stopCallRecording', { ids, as: 'amira' })
  await story.show('removeCallMedia', { ...own, ids: publication })
  await story.show('leaveCall', { ids, as: 'ben', body: { deviceId: 'ben-tablet' } })

  const rejected = await story.run('startCall', { as: 'amira', body: call })
  const second = { sessionId: rejected.sessionId }
  await story.show('rejectCall', { ids: second, as: 'ben', body: { status: 'rejected' } })
  const cancelled = await story.run('startCall', { as: 'amira', body: call })
  await story.show('cancelCall', { ids: { sessionId: cancelled.sessionId }, as: 'amira' })
  const meeting = await story.show('startCall', {
    title: 'Meet in a group, without ringing',
    as: 'amira',
    body: { receiver: 'ward-3', receiverType: 'group', type: 'audio', mode: 'meet' },
  })
  await story.show('endCall', { ids: { sessionId: meeting.sessionId }, as: 'amira' })
  await story.show('listCalls', { as: 'ben', query: { type: 'video', status: 'ended' } })
  await story.show('getCall', { ids, as: 'ben' })
  const fileId = await uploadText(story, port, 'call.txt', 'Ben: Good morning.\n')
  await story.show('addCallTranscription', { ids, body: { fileId } })
  await story.show('listCallTranscriptions', { ids, as: 'ben' })
  await story.show('deleteCall', { ids: second, as: 'ben' })
}
