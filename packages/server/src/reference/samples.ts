/** Prints an example as a request in several languages. */
import type { Operation } from './document.ts'
import type { Example } from './examples.ts'

/** Where a reader sends requests, and what they send with each of them. */
export interface Caller {
  /** The base of all paths, such as `https://example.com`. */
  origin: string
  headers: Record<string, string>
}

export interface Sample {
  language: string
  /** For highlighting and file names. */
  id: 'curl' | 'node' | 'python' | 'php'
  code: string
}

interface Request {
  method: string
  url: string
  headers: Record<string, string>
  body: unknown
}

export type Route = { method: string; path: string; operation: Operation }

export function samplesOf(route: Route, example: Example, caller: Caller): Sample[] {
  const request = requestOf(route, example, caller)
  return [
    { language: 'curl', id: 'curl', code: curl(request) },
    { language: 'Node.js', id: 'node', code: node(request) },
    { language: 'Python', id: 'python', code: python(request) },
    { language: 'PHP', id: 'php', code: php(request) },
  ]
}

function requestOf(
  { method, path }: Route,
  example: Example,
  { origin, headers }: Caller,
): Request {
  const { ids = {}, query = {}, as, body } = example
  const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? ''))
  // Brackets and commas are easier to read as they are, and every server understands them.
  const search = Object.entries(query)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`)
    .join('&')
  return {
    method: method.toUpperCase(),
    url: `${origin}${url}${search && `?${search}`}`,
    headers: {
      ...headers,
      ...(as !== undefined && { onBehalfOf: as }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body,
  }
}

function curl({ method, url, headers, body }: Request): string {
  const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  return [
    // Without -g, curl reads brackets as a range.
    `curl${url.includes('[') ? ' -g' : ''}${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${quoted(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ')
}

function node({ method, url, headers, body }: Request): string {
  const options = {
    ...(method !== 'GET' && { method }),
    ...(Object.keys(headers).length > 0 && { headers }),
  }
  const fields = Object.entries(options).map(([name, value]) => `  ${name}: ${inNode(value, 1)},`)
  if (body !== undefined) fields.push(`  body: JSON.stringify(${inNode(body, 1)}),`)
  const given = fields.length > 0 ? `, {\n${fields.join('\n')}\n}` : ''
  return [
    `const response = await fetch(${inNode(url)}${given})`,
    'console.log(response.status, await response.json())',
  ].join('\n')
}

function python({ method, url, headers, body }: Request): string {
  const given = [
    `    ${inPython(url)},`,
    ...(method === 'GET' ? [] : [`    method=${inPython(method)},`]),
    ...(Object.keys(headers).length > 0 ? [`    headers=${inPython(headers, 1)},`] : []),
    ...(body === undefined ? [] : [`    data=json.dumps(${inPython(body, 1)}).encode(),`]),
  ]
  return [
    'import json',
    'from urllib.request import Request, urlopen',
    '',
    `request = Request(\n${given.join('\n')}\n)`,
    'with urlopen(request) as response:',
    '    print(response.status, json.load(response))',
  ].join('\n')
}

function php({ method, url, headers, body }: Request): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  const given = [
    `    'method' => ${inPhp(method)},`,
    ...(lines.length > 0 ? [`    'header' => ${inPhp(lines, 1)},`] : []),
    ...(body === undefined ? [] : [`    'content' => json_encode(${inPhp(body, 1)}),`]),
  ]
  return [
    '<?php',
    `$context = stream_context_create(['http' => [\n${given.join('\n')}\n]]);`,
    `$answer = json_decode(file_get_contents(${inPhp(url)}, false, $context), true);`,
    'print_r($answer);',
  ].join('\n')
}

/** How a language writes literals. */
interface Literals {
  indent: string
  text: (value: string) => string
  /** `true`, `false` and `null`. */
  words: Record<string, string>
  list: [open: string, close: string]
  object: [open: string, close: string]
  empty: string
  entry: (name: string, value: string) => string
}

const single = (escaped: RegExp) => (value: string) => `'${value.replaceAll(escaped, '\\$&')}'`
const isName = (text: string) => /^[A-Za-z_$][\w$]*$/.test(text)

const inNode = printer({
  indent: '  ',
  text: (value) => single(/['\\]/g)(value).replaceAll('\r', '\\r').replaceAll('\n', '\\n'),
  words: {},
  list: ['[', ']'],
  object: ['{', '}'],
  empty: '{}',
  entry: (name, value) => `${isName(name) ? name : `'${name}'`}: ${value}`,
})

const inPython = printer({
  indent: '    ',
  text: (value) => JSON.stringify(value),
  words: { true: 'True', false: 'False', null: 'None' },
  list: ['[', ']'],
  object: ['{', '}'],
  empty: '{}',
  entry: (name, value) => `${JSON.stringify(name)}: ${value}`,
})

const inPhp = printer({
  indent: '    ',
  text: single(/['\\]/g),
  words: {},
  list: ['[', ']'],
  object: ['[', ']'],
  // An empty array would become a list.
  empty: 'new stdClass()',
  entry: (name, value) => `${single(/['\\]/g)(name)} => ${value}`,
})

function printer(literals: Literals) {
  const { indent, text, words, list, object, empty, entry } = literals
  const print = (value: unknown, depth = 0): string => {
    if (typeof value === 'string') return text(value)
    if (typeof value !== 'object' || value === null) return words[String(value)] ?? String(value)
    const lines = Array.isArray(value)
      ? value.map((item) => print(item, depth + 1))
      : Object.entries(value).map(([name, item]) => entry(name, print(item, depth + 1)))
    const [open, close] = Array.isArray(value) ? list : object
    if (lines.length === 0) return Array.isArray(value) ? open + close : empty
    const plain = Array.isArray(value) && lines.every((line) => !line.includes('\n'))
    if (plain && lines.join(', ').length < 60) return open + lines.join(', ') + close
    const inner = indent.repeat(depth + 1)
    return `${open}\n${lines.map((line) => `${inner}${line},\n`).join('')}${indent.repeat(depth)}${close}`
  }
  return print
}
