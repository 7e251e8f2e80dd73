/**
 * Random actions of several devices, timeouts and lost devices, compared with a model: each is refused or changes the same
 * as in the model, and record, messages and events tell one history. If the database ends the connection of a request, all of
 * it has happened or nothing. Then actions at once, where only the history can be checked.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { queryAt } from '../../../test/databases.ts'
import { type TestApp, useServer } from '../../../test/kit.ts'
import { LONG } from '../../../test/long.ts'
import { seeded } from '../../../test/seed.ts'
import { lostDevicesJob, sweepCallJob } from './sweep.job.ts'

/** One of its own, because its tables have triggers. */
const server = useServer({ roles: ['api'] })
const HISTORIES = LONG ? 400 : 6
const STEPS = 40

const PEOPLE = ['a', 'b', 'c'] as const
type Person = (typeof PEOPLE)[number]

type Mode = 'call' | 'meet' | 'presenter'
type Action =
  | { act: 'start'; by: Person; to: Person | 'team'; mode: Mode }
  | { act: 'join'; by: Person; on: number; device: string; transfer: boolean }
  | { act: 'leave'; by: Person; on: number; device: string | undefined }
  | { act: 'reject'; by: Person; on: number; busy: boolean }
  | { act: 'cancel' | 'end'; by: Person; on: number }
/** What happens to a call without a request. */
type Fate = { act: 'wait'; on: number; seconds: number } | { act: 'lose'; by: Person; on: number }
/** A request whose transaction dies when it writes to a table. */
type Crash = { act: 'crash'; at: string; during: Action }

interface Place {
  uid: Person
  state: 'invited' | 'waiting' | 'ongoing' | 'ended' | 'unanswered' | 'rejected'
  device: string | undefined
}

interface Call {
  session: string
  by: Person
  to: Person | 'team'
  mode: Mode
  status: string
  /** For how many seconds one device has been alone. */
  aloneFor: number | undefined
  places: Place[]
  events: string[]
  /** The actions of its messages. */
  messages: string[]
}

const DEVICES = ['phone', 'tablet'] as const
const FINAL = ['ended', 'unanswered', 'rejected', 'cancelled', 'busy']

/** Tables that changes of calls write to, in the order in which they do. */
const WRITTEN = ['calls', 'call_participants', 'messages', 'event_bodies'] as const

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
      mode: fc.constantFrom<Mode>('call', 'call', 'meet', 'presenter'),
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

const fates: fc.Arbitrary<Fate> = fc.oneof(
  fc.record({ act: fc.constant('wait' as const), on, seconds: fc.constantFrom(46, 100, 181) }),
  fc.record({ act: fc.constant('lose' as const), by: person, on }),
)
const crashes: fc.Arbitrary<Crash> = fc.record({
  ...{ act: fc.constant('crash' as const), at: fc.constantFrom(...WRITTEN), during: actions },
})
const steps = fc.oneof(
  { weight: 8, arbitrary: actions },
  { weight: 2, arbitrary: fates },
  { weight: 1, arbitrary: crashes },
)

class Model {
  readonly calls: Call[]

  constructor(calls: Call[] = []) {
    this.calls = calls
  }

  /** Time passes for a call, or a device in it is lost. */
  suffer(fate: Fate): void {
    const call = this.calls.at(-1 - fate.on)
    if (!call || FINAL.includes(call.status)) return
    if (fate.act === 'lose') this.#lose(call, fate.by)
    else this.#wait(call, fate.seconds)
  }

  #lose(call: Call, by: Person) {
    const own = call.places.filter(({ uid }) => uid === by)
    if (own.some(({ state }) => state === 'waiting')) this.#finish(call, 'cancelled')
    else if (own.some(({ state }) => state === 'ongoing')) this.#takeOut(call, by)
  }

  #wait(call: Call, seconds: number) {
    if (call.status === 'initiated') {
      this.#finish(call, 'unanswered')
      return
    }
    const rung = call.places.filter(({ state }) => state === 'invited')
    if (call.to === 'team' && rung.length > 0) {
      for (const place of rung) place.state = 'unanswered'
      call.events.push('call.silenced')
    }
    if (call.aloneFor === undefined) return
    call.aloneFor += seconds
    const alone = call.places.find(({ state }) => state === 'ongoing')
    if (alone && call.aloneFor > 180) this.#takeOut(call, alone.uid)
  }

  #takeOut(call: Call, by: Person) {
    for (const place of call.places)
      if (place.uid === by && place.state === 'ongoing') place.state = 'ended'
    call.events.push(moved(call, 'left'))
    const rest = call.places.filter(({ state }) => state === 'ongoing').length
    if (rest === 0 || (call.to !== 'team' && call.mode !== 'meet')) this.#finish(call, 'ended')
    else watch(call)
  }

  #active = (uid: string) =>
    this.calls.find(({ places }) =>
      places.some((place) => place.uid === uid && isActive(place.state)),
    )

  /** Returns the code of the refusal, or changes the model. */
  apply(action: Action): string | undefined {
    if (action.act === 'start') return this.#start(action)
    const call = this.calls.at(-1 - action.on)
    const seen = call?.places.some(({ uid }) => uid === action.by)
    if (!call || !(seen || (call.to === 'team' && call.mode === 'meet')))
      return 'ERR_CALL_SESSION_NOT_FOUND'
    if (FINAL.includes(call.status)) return 'ERR_CALL_TERMINATED'
    if (action.act === 'join') return this.#join(call, action)
    if (action.act === 'leave') return this.#leave(call, action)
    if (action.act === 'reject') return this.#reject(call, action)
    return action.act === 'cancel' ? this.#cancel(call, action.by) : this.#end(call, action.by)
  }

  #start({ by, to, mode }: Extract<Action, { act: 'start' }>): string | undefined {
    if (by === to) return 'ERR_CALLING_SELF'
    if (this.#active(by)) return 'ERR_CALL_BUSY_SELF'
    if (to === 'team') {
      const current = this.calls.find((one) => one.to === 'team' && !FINAL.includes(one.status))
      if (current) return 'ERR_CALL_BUSY_GROUP'
      this.#add(by, to, mode, mode === 'meet' ? [] : PEOPLE.filter((uid) => uid !== by))
      return undefined
    }
    const other = this.#active(to)
    if (other?.status === 'initiated' && other.by === to && other.to === by) {
      if (other.by < by) this.#answer(other, by, 'phone')
      else {
        const was = other.places.find(({ uid }) => uid === to)?.device
        this.calls.push(newCall(by, to, 'call'))
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
      const call = newCall(by, to, mode)
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
    this.#add(by, to, mode, [to])
    return undefined
  }

  #add(by: Person, to: Person | 'team', mode: Mode, rung: Person[]) {
    const call = newCall(by, to, mode)
    const meet = mode === 'meet'
    call.status = meet ? 'ongoing' : 'initiated'
    call.places = [
      { uid: by, state: meet ? 'ongoing' : 'waiting', device: 'phone' },
      ...rung.map((uid): Place => ({ uid, state: 'invited', device: undefined })),
    ]
    call.messages.push(call.status)
    call.events.push(
      ...(meet ? ['meeting.started', 'meeting.participant.joined'] : ['call.incoming']),
    )
    watch(call)
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
      const rings = call.to === 'team' && own.some(({ state }) => state === 'invited')
      take(call, by, name)
      call.events.push(moved(call, 'joined'), ...(rings ? ['call.silenced'] : []))
      watch(call)
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
    this.#takeOut(call, by)
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
    if (call.to === 'team') call.events.push('call.silenced')
    else this.#finish(call, busy ? 'busy' : 'rejected')
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
    call.aloneFor = undefined
    const ofMeeting = call.mode === 'meet' && status === 'ended'
    call.events.push(`${ofMeeting ? 'meeting' : 'call'}.${status}`)
    for (const place of call.places) {
      if (place.state === 'ongoing') place.state = 'ended'
      if (place.state === 'invited' || place.state === 'waiting') place.state = 'unanswered'
    }
  }
}

const isActive = (state: string) => state === 'waiting' || state === 'ongoing'
const moved = ({ mode }: Call, what: string) =>
  `${mode === 'meet' ? 'meeting' : 'call'}.participant.${what}`
const newCall = (by: Person, to: Person | 'team', mode: Mode): Call => ({
  ...{ session: '', by, to, mode, status: 'initiated', aloneFor: undefined },
  ...{ places: [], events: [], messages: [] },
})

/** Begins or ends the time in which one device is alone. */
function watch(call: Call): void {
  const alone = call.places.filter(({ state }) => state === 'ongoing').length === 1
  call.aloneFor = alone ? (call.aloneFor ?? 0) : undefined
}

function take(call: Call, uid: Person, name: string | undefined): void {
  const free = call.places.find(
    (place) => place.uid === uid && ['invited', 'rejected', 'unanswered'].includes(place.state),
  )
  if (free) Object.assign(free, { state: 'ongoing', device: name })
  else call.places.push({ uid, state: 'ongoing', device: name })
}

const CRASHED = 'crashed'

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
    ...(action.act === 'start' && { deviceId: 'phone', mode: action.mode }),
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
  if (answer.status >= 500) return CRASHED
  return answer.status === 200 ? undefined : answer.body.error.code
}

type RunnableJob = { start(run: never): Promise<void> }

/** Lets time pass for a call, or a device be lost, and runs the job that notices it. */
async function inflict(app: TestApp, sessions: string[], fate: Fate): Promise<void> {
  const id = sessions
    .at(-1 - fate.on)
    ?.split('.')
    .at(-1)
  if (id === undefined) return
  const run = (text: string, value: unknown) =>
    app.cell.db.query({ name: '', text, values: [app.no, id, value] })
  const start = (job: RunnableJob, input: object) =>
    job.start({ appNo: app.no, input, context: { deps: server.deps, cell: app.cell } } as never)
  if (fate.act === 'wait') {
    await run(
      `update calls set initiated_at = initiated_at - make_interval(secs => $3),
         lone_since = lone_since - make_interval(secs => $3) where app_no = $1 and id = $2`,
      fate.seconds,
    )
    await start(sweepCallJob, { id })
    return
  }
  await run(
    `update call_participants set seen_at = clock_timestamp() - interval '30 seconds'
     where app_no = $1 and call_id = $2 and uid = $3 and state in ('waiting', 'ongoing')`,
    fate.by,
  )
  await start(lostDevicesJob, { id, silent: true })
}

/** Ends the connection of whatever writes to a table that is named for its app. */
const END_CONNECTIONS = `
  create table crashes (app_no int, at text);
  grant select on crashes to public;
  create function crash() returns trigger language plpgsql as $$
  begin
    if exists (select from crashes where app_no = new.app_no and at = tg_argv[0]) then
      perform pg_terminate_backend(pg_backend_pid());
    end if;
    return new;
  end $$;
  ${WRITTEN.map(
    (at) =>
      `create trigger crash after insert or update on ${at} for each row execute function crash('${at}');`,
  ).join(' ')}`

let prepared: Promise<unknown> | undefined

/** Sends a request whose transaction dies when it writes to a table. Returns `crashed` if it did. */
async function sendDying(app: TestApp, sessions: string[], { at, during }: Crash) {
  const { url } = app.cell
  await queryAt(url, 'insert into crashes values ($1, $2)', [app.no, at])
  const code = await send(app, sessions, during)
  await queryAt(url, 'delete from crashes where app_no = $1', [app.no])
  return code
}

async function newApp(): Promise<TestApp> {
  const app = await server.newApp()
  prepared ??= queryAt(app.cell.url, END_CONNECTIONS)
  await prepared
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
    fc.asyncProperty(fc.array(steps, { minLength: STEPS, maxLength: STEPS }), async (history) => {
      const app = await newApp()
      const model = new Model()
      let sessions: string[] = []
      for (const [nth, step] of history.entries()) {
        if (step.act === 'wait' || step.act === 'lose') {
          model.suffer(step)
          await inflict(app, sessions, step)
          continue
        }
        const dies = step.act === 'crash'
        const code = await (dies ? sendDying(app, sessions, step) : send(app, sessions, step))
        if (dies && code === CRASHED) continue
        const expected = model.apply(dies ? step.during : step)
        assert.equal(code, expected, `step ${nth}: ${JSON.stringify(step)}`)
        if (model.calls.length > sessions.length) sessions = await sessionsOf(app)
      }
      const found = await historiesOf(app)
      for (const { record } of found.values())
        for (const { uid, sends } of record.participants)
          assert.equal(sends, record.mode === 'presenter' ? uid === record.initiator : undefined)
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
            mode: record?.mode,
            by: record?.initiator,
            places: places(
              (record?.participants ?? []).map((one) => ({ ...one, device: one.deviceId })),
            ),
            joined: record?.totalParticipants,
            ...{ events, messages },
          },
          {
            status: call.status,
            mode: call.mode,
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
