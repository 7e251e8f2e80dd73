/**
 * Random actions of several devices, compared with a model: each is refused or changes the same as in the model, and
 * record, messages and events tell one history. Then the same at once, where only the history can be checked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { LONG } from '../../../test/long.ts'
import { seeded } from '../../../test/seed.ts'

const server = useServer()
const HISTORIES = LONG ? 400 : 6
const STEPS = 40

const PEOPLE = ['a', 'b', 'c'] as const
type Person = (typeof PEOPLE)[number]

type Action =
  | { act: 'start'; by: Person; to: Person | 'team'; meet: boolean }
  | { act: 'join'; by: Person; on: number; device: string; transfer: boolean }
  | { act: 'leave'; by: Person; on: number; device: string | undefined }
  | { act: 'reject'; by: Person; on: number; busy: boolean }
  | { act: 'cancel' | 'end'; by: Person; on: number }

interface Place {
  uid: Person
  state: 'invited' | 'waiting' | 'ongoing' | 'ended' | 'unanswered' | 'rejected'
  device: string | undefined
}

interface Call {
  session: string
  by: Person
  to: Person | 'team'
  meet: boolean
  status: string
  places: Place[]
  events: string[]
  /** The actions of its messages. */
  messages: string[]
}

const DEVICES = ['phone', 'tablet'] as const
const FINAL = ['ended', 'unanswered', 'rejected', 'cancelled', 'busy']

const person = fc.constantFrom(...PEOPLE)
const device = fc.constantFrom(...DEVICES)
/** Counted from the newest call on. */
const on = fc.constantFrom(0, 0, 0, 0, 1, 1, 2)
const actions: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('start' as const),
      by: person,
      to: fc.constantFrom(...PEOPLE, 'team' as const),
      meet: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      ...{ act: fc.constant('join' as const), by: person, on, device },
      transfer: fc.constantFrom(false, false, true),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ act: fc.constant('leave' as const), by: person, on },
      device: fc.option(device, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      ...{ act: fc.constant('reject' as const), by: person, on },
      busy: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constantFrom('cancel' as const, 'end' as const),
      by: person,
      on,
    }),
  },
)

class Model {
  readonly calls: Call[] = []

  #active = (uid: string) =>
    this.calls.find(({ places }) =>
      places.some((place) => place.uid === uid && isActive(place.state)),
    )

  /** Returns the code of the refusal, or changes the model. */
  apply(action: Action): string | undefined {
    if (action.act === 'start') return this.#start(action)
    const call = this.calls.at(-1 - action.on)
    const seen = call?.places.some(({ uid }) => uid === action.by)
    if (!call || !(seen || (call.to === 'team' && call.meet))) return 'ERR_CALL_SESSION_NOT_FOUND'
    if (FINAL.includes(call.status)) return 'ERR_CALL_TERMINATED'
    if (action.act === 'join') return this.#join(call, action)
    if (action.act === 'leave') return this.#leave(call, action)
    if (action.act === 'reject') return this.#reject(call, action)
    return action.act === 'cancel' ? this.#cancel(call, action.by) : this.#end(call, action.by)
  }

  #start({ by, to, meet }: Extract<Action, { act: 'start' }>): string | undefined {
    if (by === to) return 'ERR_CALLING_SELF'
    if (this.#active(by)) return 'ERR_CALL_BUSY_SELF'
    if (to === 'team') {
      const current = this.calls.find((one) => one.to === 'team' && !FINAL.includes(one.status))
      if (current) return 'ERR_CALL_BUSY_GROUP'
      this.#add(by, to, meet, meet ? [] : PEOPLE.filter((uid) => uid !== by))
      return undefined
    }
    const other = this.#active(to)
    if (other?.status === 'initiated' && other.by === to && other.to === by) {
      if (other.by < by) this.#answer(other, by, 'phone')
      else {
        const was = other.places.find(({ uid }) => uid === to)?.device
        this.calls.push(newCall(by, to, false))
        const call = this.calls.at(-1) as Call
        call.places = [
          { uid: by, state: 'waiting', device: 'phone' },
          { uid: to, state: 'invited', device: undefined },
        ]
        this.#finish(other, 'cancelled')
        this.#answer(call, to, was)
      }
      return undefined
    }
    if (other) {
      const call = newCall(by, to, meet)
      call.places = [by, to].map((uid) => ({
        uid,
        state: 'unanswered',
        device: uid === by ? 'phone' : undefined,
      }))
      this.calls.push(call)
      call.status = 'busy'
      call.messages.push('busy')
      call.events.push('call.busy')
      return 'ERR_CALL_BUSY_USER'
    }
    this.#add(by, to, meet, [to])
    return undefined
  }

  #add(by: Person, to: Person | 'team', meet: boolean, rung: Person[]) {
    const call = newCall(by, to, meet)
    call.status = meet ? 'ongoing' : 'initiated'
    call.places = [
      { uid: by, state: meet ? 'ongoing' : 'waiting', device: 'phone' },
      ...rung.map((uid): Place => ({ uid, state: 'invited', device: undefined })),
    ]
    call.messages.push(call.status)
    call.events.push(
      ...(meet ? ['meeting.started', 'meeting.participant.joined'] : ['call.incoming']),
    )
    this.calls.push(call)
  }

  #join(call: Call, { by, device: name, transfer }: Extract<Action, { act: 'join' }>) {
    const own = call.places.filter(({ uid }) => uid === by)
    const inside = own.find(({ state }) => state === 'ongoing')
    const waiting = own.find(({ state }) => state === 'waiting')
    if ((inside || waiting) && !transfer)
      return call.to === 'team' ? 'ERR_CALL_GROUP_ALREADY_JOINED' : 'ERR_CALL_USER_ALREADY_JOINED'
    const elsewhere = this.calls.some(
      (one) => one !== call && one.places.some(({ uid, state }) => uid === by && isActive(state)),
    )
    if (elsewhere) return 'ERR_CALL_BUSY_SELF'
    if (waiting) waiting.device = name
    else if (inside) {
      inside.state = 'ended'
      call.places.push({ uid: by, state: 'ongoing', device: name })
      call.events.push(moved(call, 'left'), moved(call, 'joined'))
    } else if (call.status === 'initiated') this.#answer(call, by, name)
    else {
      take(call, by, name)
      call.events.push(moved(call, 'joined'))
    }
    return undefined
  }

  #answer(call: Call, by: Person, name: string | undefined) {
    take(call, by, name)
    for (const place of call.places) if (place.state === 'waiting') place.state = 'ongoing'
    call.status = 'ongoing'
    call.messages.push('ongoing')
    call.events.push('call.accepted', moved(call, 'joined'), moved(call, 'joined'))
  }

  #leave(call: Call, { by, device: name }: Extract<Action, { act: 'leave' }>) {
    if (call.status === 'initiated') return 'ERR_CALL_NOT_STARTED'
    const own = call.places.filter(({ uid }) => uid === by)
    const inside = own.find(({ state }) => state === 'ongoing')
    if (!inside)
      return own.some(({ state }) => state === 'ended')
        ? 'ERR_CALL_GROUP_ALREADY_LEFT'
        : 'ERR_CALL_NOT_A_PART'
    if (name !== undefined && inside.device !== undefined && name !== inside.device)
      return 'ERR_CALL_GROUP_ALREADY_LEFT'
    inside.state = 'ended'
    call.events.push(moved(call, 'left'))
    const rest = call.places.filter(({ state }) => state === 'ongoing').length
    if (rest === 0 || (call.to !== 'team' && !call.meet)) this.#finish(call, 'ended')
    return undefined
  }

  #reject(call: Call, { by, busy }: Extract<Action, { act: 'reject' }>) {
    if (call.to === 'team' && busy) return 'ERR_CALL_GROUP_INVALID_STATUS'
    if (call.to !== 'team' && call.status === 'ongoing') return 'ERR_CALL_ONGOING_TO_INVALID'
    const own = call.places.filter(({ uid }) => uid === by)
    if (own.some(({ state }) => state === 'ongoing')) return 'ERR_CALL_ONGOING_TO_INVALID'
    const rung = own.find(({ state }) => state === 'invited')
    if (!rung) return 'ERR_CALL_NOT_A_PART'
    rung.state = 'rejected'
    if (call.to !== 'team') this.#finish(call, busy ? 'busy' : 'rejected')
    return undefined
  }

  #cancel(call: Call, by: Person) {
    if (call.by !== by) return 'ERR_CALL_NOT_A_PART'
    if (call.status === 'ongoing') return 'ERR_CALL_ONGOING_TO_INVALID'
    this.#finish(call, 'cancelled')
    return undefined
  }

  #end(call: Call, by: Person) {
    if (call.status === 'initiated') return 'ERR_CALL_NOT_STARTED'
    const inside = call.places.some(({ uid, state }) => uid === by && state === 'ongoing')
    if (call.to !== 'team' && !inside) return 'ERR_CALL_NOT_A_PART'
    // `a` owns the group.
    if (call.to === 'team' && !(call.by === by && inside) && by !== 'a')
      return 'ERR_GROUP_NO_MODERATOR_SCOPE'
    this.#finish(call, 'ended')
    return undefined
  }

  #finish(call: Call, status: string) {
    call.status = status
    call.messages.push(status)
    call.events.push(`${call.meet && status === 'ended' ? 'meeting' : 'call'}.${status}`)
    for (const place of call.places) {
      if (place.state === 'ongoing') place.state = 'ended'
      if (place.state === 'invited' || place.state === 'waiting') place.state = 'unanswered'
    }
  }
}

const isActive = (state: string) => state === 'waiting' || state === 'ongoing'
const moved = ({ meet }: Call, what: string) => `${meet ? 'meeting' : 'call'}.participant.${what}`
const newCall = (by: Person, to: Person | 'team', meet: boolean): Call => ({
  ...{ session: '', by, to, meet, status: 'initiated', places: [], events: [], messages: [] },
})

function take(call: Call, uid: Person, name: string | undefined): void {
  const free = call.places.find(
    (place) => place.uid === uid && (place.state === 'invited' || place.state === 'rejected'),
  )
  if (free) Object.assign(free, { state: 'ongoing', device: name })
  else call.places.push({ uid, state: 'ongoing', device: name })
}

/** Sends the request of an action. Returns the code of the refusal. */
async function send(app: TestApp, sessions: string[], action: Action): Promise<string | undefined> {
  const { by } = action
  const to = action.act === 'start' ? action.to : undefined
  const body = {
    start: { receiver: to, receiverType: to === 'team' ? 'group' : 'user', type: 'audio' },
    join: {},
    leave: {},
    reject: {},
    cancel: undefined,
    end: undefined,
  }[action.act]
  const more = {
    ...(action.act === 'start' && { deviceId: 'phone', mode: action.meet ? 'meet' : 'call' }),
    ...(action.act === 'join' && { deviceId: action.device, transfer: action.transfer }),
    ...(action.act === 'leave' && action.device !== undefined && { deviceId: action.device }),
    ...(action.act === 'reject' && { status: action.busy ? 'busy' : 'rejected' }),
  }
  const session = action.act === 'start' ? '' : (sessions.at(-1 - action.on) ?? 'none')
  const path = action.act === 'start' ? '/v3/calls' : `/v3/calls/${session}/${action.act}`
  const answer = await app.call('POST', path, {
    headers: { onbehalfof: by },
    ...(body && { body: { ...body, ...more } }),
  })
  return answer.status === 200 ? undefined : answer.body.error.code
}

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  await app.users(...PEOPLE)
  const members = { participants: ['b', 'c'] }
  await app.client.groups.create({ guid: 'team', name: 'Team', owner: 'a', members })
  return app
}

/** The sessions of all calls, oldest first. */
const sessionsOf = async (app: TestApp) =>
  (await app.client.calls.list({ perPage: 1000 })).data.map(({ sessionId }) => sessionId).reverse()

/** What record, events and messages say about each call. */
async function historiesOf(app: TestApp) {
  const records = (await app.client.calls.list({ perPage: 1000 })).data
  const events = await app.events()
  const text = `select data from messages where app_no = $1 and category = 'call' order by id`
  const { rows } = await app.cell.db.query({ name: '', text, values: [app.no] })
  return new Map(
    records.map((record) => [
      record.sessionId,
      {
        record,
        events: events
          .filter(({ payload }) => payload.call?.sessionId === record.sessionId)
          .map(({ type }) => type as string),
        messages: rows
          .filter(({ data }) => data.entities.on.entity.sessionId === record.sessionId)
          .map(({ data }) => data.action as string),
      },
    ]),
  )
}

test('a history of calls is that of the model', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { minLength: STEPS, maxLength: STEPS }), async (history) => {
      const app = await newApp()
      const model = new Model()
      let sessions: string[] = []
      for (const [step, action] of history.entries()) {
        const expected = model.apply(action)
        const code = await send(app, sessions, action)
        assert.equal(code, expected, `step ${step}: ${JSON.stringify(action)}`)
        if (model.calls.length > sessions.length) sessions = await sessionsOf(app)
      }
      const found = await historiesOf(app)
      assert.equal(found.size, model.calls.length)
      for (const [nth, call] of model.calls.entries()) {
        const { record, events, messages } = found.get(sessions[nth] ?? '') ?? {}
        const shown = (state: string) =>
          state === 'invited' || state === 'waiting' ? 'unanswered' : state
        const places = (
          list: readonly { uid: string; state: string; device: string | undefined }[],
        ) => list.map(({ uid, state, device: name }) => `${uid} ${shown(state)} ${name}`).sort()
        assert.deepEqual(
          {
            status: record?.status,
            by: record?.initiator,
            places: places(
              (record?.participants ?? []).map((one) => ({ ...one, device: one.deviceId })),
            ),
            joined: record?.totalParticipants,
            ...{ events, messages },
          },
          {
            status: call.status,
            by: call.by,
            places: places(call.places),
            joined: call.events.filter((type) => type.endsWith('.joined')).length,
            ...{ events: call.events, messages: call.messages },
          },
        )
      }
    }),
    { ...seeded, numRuns: HISTORIES },
  )
})

/** The statuses that a call can have after another one. */
const NEXT: Record<string, string[]> = {
  '': ['initiated', 'ongoing', 'busy'],
  initiated: ['ongoing', 'unanswered', 'rejected', 'cancelled', 'busy'],
  ongoing: ['ended'],
}

test('actions at the same moment have one order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(actions, { minLength: 4, maxLength: 6 }), { minLength: 6, maxLength: 6 }),
      async (batches) => {
        const app = await newApp()
        for (const batch of batches) {
          const sessions = await sessionsOf(app)
          await Promise.all(batch.map((action) => send(app, sessions, action)))
        }
        const active = new Map<string, number>()
        for (const { record, events, messages } of (await historiesOf(app)).values()) {
          let before = ''
          for (const action of messages) {
            assert.ok(NEXT[before]?.includes(action), `${before} → ${action}`)
            before = action
          }
          assert.equal(record.status, before)
          const joined = events.filter((type) => type.endsWith('.joined')).length
          assert.equal(record.totalParticipants, joined)
          const over = FINAL.includes(record.status)
          const inside = record.participants.filter(({ state }) => state === 'ongoing')
          assert.ok(over ? inside.length === 0 : true)
          if (over)
            assert.match(events.at(-1) ?? '', /\.(ended|unanswered|rejected|cancelled|busy)$/)
          for (const { uid } of inside) active.set(uid, (active.get(uid) ?? 0) + 1)
        }
        for (const [uid, count] of active) assert.equal(count, 1, `${uid} is in ${count} places`)
      },
    ),
    { ...seeded, numRuns: HISTORIES / 2 },
  )
})
