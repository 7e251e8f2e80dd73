import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, suite, test } from 'node:test'
import { takeTurns } from '../bench/against.ts'
import { readTotal } from '../bench/callgrind.ts'
import { readBatches } from '../bench/metrics.ts'
import { percentile } from '../bench/open-loop.ts'
import { compare } from '../bench/ratios.ts'
import { Side } from '../bench/side.ts'
import { UNIQUE, uniqueText } from '../bench/unique.ts'

const printed = (figures: Record<string, number>) =>
  Object.entries(figures).map(([what, value]) => ({ what, value }))

suite('bench --against', () => {
  let folder: string
  const log = () => readFileSync(join(folder, 'log'), 'utf8').trim().split('\n')

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'loquat-against-test-'))
    writeFileSync(join(folder, 'log'), '')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** A work tree whose bench writes to a log that both sides share. */
  function side(name: string, bench: string): Side {
    const root = join(folder, name)
    mkdirSync(join(root, 'scripts'), { recursive: true })
    mkdirSync(join(root, 'node_modules/.bin'), { recursive: true })
    symlinkSync(process.execPath, join(root, 'node_modules/.bin/node'))
    const log = `import { appendFileSync } from 'node:fs'
      const log = (line) => appendFileSync(${JSON.stringify(join(folder, 'log'))}, '${name} ' + line + '\\n')`
    writeFileSync(join(root, 'scripts/bench.ts'), `${log}\n${bench}`)
    return new Side(root, 'any', () => {})
  }

  const rounds = (count: number) => `
    console.error('ready')
    for (let round = 1; round <= ${count}; round++) {
      log('begins ' + round)
      await new Promise((resolve) => setTimeout(resolve, 20))
      log('ends ' + round)
      console.error('round ' + round)
    }
    console.log(JSON.stringify({ figures: [{ what: 'CPU', value: ${count} }] }))`

  test('one side measures while the other waits, in the order A B B A', async () => {
    const figures = await takeTurns(side('a', rounds(3)), side('b', rounds(3)))
    assert.deepEqual(figures, [[{ what: 'CPU', value: 3 }], [{ what: 'CPU', value: 3 }]])
    const turns = ['a 1', 'b 1', 'b 2', 'a 2', 'a 3', 'b 3']
    assert.deepEqual(
      log(),
      turns.flatMap((turn) => {
        const [name, round] = turn.split(' ')
        return [`${name} begins ${round}`, `${name} ends ${round}`]
      }),
    )
  })

  test('a side with more rounds finishes alone', async () => {
    await takeTurns(side('a', rounds(1)), side('b', rounds(4)))
    assert.deepEqual(log().at(-1), 'b ends 4')
  })

  test('a bench that fails ends the comparison and the other side', async () => {
    const failing = side('a', `console.error('ready'); throw new Error('no engines')`)
    const waiting = side('b', `console.error('ready'); setInterval(() => {}, 1000)`)
    await assert.rejects(takeTurns(failing, waiting), /ended without figures/)
    assert.equal(waiting.running, false)
  })

  test('a ratio above 1 costs more, whether a figure counts time or work in a time', () => {
    const ours = [printed({ 'CPU, µs a message': 110, 'events a CPU second': 100, 'ms: page': 3 })]
    const theirs = [
      printed({ 'CPU, µs a message': 100, 'events a CPU second': 110, 'ms: page': 2 }),
    ]
    const { figures } = compare(ours, theirs)
    const ratios = figures.map(({ what, ratio, steady }) => [what, ratio, steady])
    assert.deepEqual(ratios, [
      ['CPU, µs a message', 1.1, true],
      ['events a CPU second', 1.1, true],
      ['ms: page', 1.5, false],
    ])
  })

  test('the ratio is the median of the rounds, with their extremes', () => {
    const ours = [1.0, 1.3, 1.1].map((value) => printed({ 'CPU, µs': value }))
    const theirs = [1, 1, 1].map((value) => printed({ 'CPU, µs': value }))
    const [figure] = compare(ours, theirs).figures
    assert.deepEqual([figure?.ratio, figure?.spread], [1.1, [1, 1.3]])
  })

  test('a figure that continues another is compared with the same one of the other side', () => {
    const figures = (first: number, second: number) => [
      { what: 'old, a second', value: 1 },
      { what: '… CPU, µs', value: first },
      { what: 'new, a second', value: 1 },
      { what: '… CPU, µs', value: second },
    ]
    const compared = compare([figures(1, 4)], [figures(1, 2)]).figures
    const ratioOf = (name: string) => compared.find(({ what }) => what === name)?.ratio
    assert.deepEqual([ratioOf('old, a second: CPU, µs'), ratioOf('new, a second: CPU, µs')], [1, 2])
  })

  test('figures that only one side has are named', () => {
    const { figures, unmatched } = compare([[{ what: 'a', value: 1 }]], [[{ what: 'b', value: 1 }]])
    assert.deepEqual([figures, unmatched], [[], { ours: ['a'], theirs: ['b'] }])
  })
})

suite('what a bench reads and writes', () => {
  test('the sizes of batches, over all cells', () => {
    const metrics = [
      '# TYPE loquat_send_batch_size histogram',
      'loquat_send_batch_size_count{cell="us-1"} 10',
      'loquat_send_batch_size_sum{cell="us-1"} 84',
      'loquat_send_batch_size_bucket{cell="us-1",le="1"} 2',
      'loquat_send_batch_size_count{cell="us-2"} 1',
      'loquat_send_batch_size_sum{cell="us-2"} 1',
    ].join('\n')
    assert.deepEqual(readBatches(metrics), { messages: 85, calls: 11 })
    assert.equal(readBatches('loquat_events_total 3'), undefined)
  })

  test('each request that asks for a unique text gets another one of the same length', () => {
    const request = `idempotency-key: ${UNIQUE}\r\n\r\n{"muid":"${UNIQUE}"}`
    const texts = [uniqueText(request), uniqueText(request)]
    const [first, second] = texts.map((text) => /key: (.*)\r\n\r\n\{"muid":"\1"\}$/.exec(text)?.[1])
    assert.equal(first?.length, UNIQUE.length)
    assert.equal(second?.length, UNIQUE.length)
    assert.notEqual(first, second)
  })

  test('the total of a file that callgrind wrote', () => {
    assert.equal(readTotal('part: 2\nsummary: 41\n\nfn=(1) totals: 7\n\ntotals: 42\n'), 42)
    assert.throws(() => readTotal('part: 2\n'), /no total/)
  })

  test('a percentile is a measured value', () => {
    const hundred = Array.from({ length: 100 }, (_, n) => 100 - n)
    assert.deepEqual([percentile(hundred, 0.5), percentile(hundred, 0.99)], [50, 99])
  })
})

suite('the end of a bench', () => {
  const run = (calls: string) =>
    spawnSync(
      process.execPath,
      [
        ...['--input-type=module', '-e'],
        `import { expectEnd } from ${JSON.stringify(new URL('../bench/ending.ts', import.meta.url).href)}
         ${calls}`,
      ],
      { encoding: 'utf8' },
    )

  test('a bench that closes everything ends by itself', () => {
    const { status, stderr } = run('expectEnd()')
    assert.deepEqual([status, stderr], [0, ''])
  })

  test('a bench that leaves something open fails and names it', () => {
    const { status, stderr } = run('expectEnd(50); setInterval(() => {}, 1_000)')
    assert.equal(status, 1)
    assert.match(stderr, /something keeps its process alive: Timeout\./)
  })
})
