/** The pages of an API reference. `{{docs}}`, `{{openapi}}`, `{{origin}}` and `{{appId}}` are filled in for each reader. */
import { type ErrorCode, errors } from '@loquat/protocol'
import type { ApiDocument, Operation } from './document.ts'
import type { Example, Examples } from './examples.ts'
import { code, codeBlock, escaped, idOf, inline, json, markdown } from './html.ts'
import { type Caller, type Route, samplesOf } from './samples.ts'
import { fieldsOf, nameOf, parameterList } from './schema.ts'

export interface Site {
  document: ApiDocument
  examples: Examples
  /** What a reader sends with the requests of an operation. */
  callerOf: (operation: Operation) => Caller
  /** The blanks in samples that readers can fill in. */
  blanks: Blank[]
  /** Links to other pages: title and URL. */
  links: [title: string, href: string][]
  /** The file names of style and script. */
  assets: { style: string; script: string }
}

export interface Blank {
  id: string
  label: string
  /** What stands in the samples until then. */
  text: string
  /** The value, if it is known. */
  value?: string
}

export interface Area {
  id: string
  title: string
  description: string
  routes: Route[]
}

/** The areas of a document, in the order of its tags. */
export function areasOf({ tags = [], paths }: ApiDocument): Area[] {
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  )
  return tags.map(({ name, description }) => ({
    id: idOf(name),
    title: name,
    description,
    routes: routes.filter(({ operation }) => operation.tags.includes(name)),
  }))
}

/** The HTML of a page: an area, `records`, `errors` or, by default, the introduction. Undefined if there is none. */
export function renderPage(site: Site, id: string): string | undefined {
  const areas = areasOf(site.document)
  const { info, components } = site.document
  const linkTo = (operationId: string) => {
    const area = areas.find(({ routes }) =>
      routes.some(({ operation }) => operation.operationId === operationId),
    )
    return area && `{{docs}}/${area.id}#${operationId}`
  }
  if (id === '') {
    const text = `<h1>${escaped(info.title)} API</h1>${markdown(info.description ?? '', linkTo)}`
    return frame(site, areas, {
      id,
      title: 'Introduction',
      main: `<article class="prose">${text}</article>`,
    })
  }
  if (id === 'errors') return frame(site, areas, { id, title: 'Errors', main: errorsPage() })
  if (id === 'records' && components?.schemas) {
    return frame(site, areas, { id, title: 'Records', main: recordsPage(components.schemas) })
  }
  const area = areas.find((one) => one.id === id)
  return area && frame(site, areas, { id, title: area.title, main: areaPage(site, area) })
}

interface Shown {
  id: string
  title: string
  main: string
}

function frame(site: Site, areas: Area[], { id, title, main }: Shown): string {
  const { info, components } = site.document
  const { style, script } = site.assets
  const entry = (page: string, name: string) =>
    `<li><a href="{{docs}}${page && `/${page}`}"${page === id ? ' aria-current="page"' : ''}>${name}</a></li>`
  const links = site.links.map(([name, href]) => `<a href="${href}">${name}</a>`).join('')
  return `<!doctype html>
<html lang="en" data-language="curl">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · ${escaped(info.title)} API</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="{{docs}}/${style}">
<script src="{{docs}}/${script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header class="top">
<a class="brand" href="{{docs}}"><span aria-hidden="true"></span>${escaped(info.title)}</a>
<button type="button" class="menu" aria-expanded="false" aria-controls="pages">Menu</button>
<div class="links">${links}<a href="{{openapi}}">OpenAPI</a></div>
</header>
<nav id="pages" aria-label="Pages">
<input type="search" id="find" placeholder="Find an operation" aria-label="Find an operation" autocomplete="off">
<ul>${entry('', 'Introduction')}${entry('errors', 'Errors')}${components?.schemas ? entry('records', 'Records') : ''}</ul>
${areas.map((area) => navigation(area, area.id === id)).join('\n')}
</nav>
<main id="main">${main}</main>
</body>
</html>
`
}

function navigation({ id, title, routes }: Area, current: boolean): string {
  const entries = routes.map(
    ({ method, path, operation: { operationId, summary } }) =>
      `<li data-text="${escaped(`${operationId} ${summary} ${method} ${path}`.toLowerCase())}"><a href="{{docs}}/${id}#${operationId}">${escaped(summary)}</a></li>`,
  )
  return `<details class="area"${current ? ' open' : ''}><summary>${escaped(title)}<span>${routes.length}</span></summary><ul>${entries.join('')}</ul></details>`
}

function areaPage(site: Site, { title, description, routes }: Area): string {
  return `<header class="head"><div><h1>${escaped(title)}</h1><p>${inline(description)}</p></div>${credentials(site)}</header>
${routes.map((route) => operationSection(site, route)).join('\n')}`
}

/** Fields that fill in the samples. Nothing is sent or stored. */
function credentials({ blanks }: Site): string {
  if (blanks.length === 0) return ''
  const fields = blanks.map(
    ({ id, label, text, value = '' }) =>
      `<label>${label}<input data-blank="${id}" autocomplete="off" spellcheck="false" placeholder="${text}" value="${value}"></label>`,
  )
  return `<form class="fill" aria-label="Fill in the samples">${fields.join('')}</form>`
}

const METHODS: Record<string, string> = { delete: 'danger', get: 'info' }

function operationSection(site: Site, route: Route): string {
  const { method, path, operation } = route
  const { operationId, summary, description, deprecated } = operation
  const examples = site.examples[operationId] ?? []
  return `<section class="operation" id="${operationId}">
<div class="about">
<h2><a href="#${operationId}">${escaped(summary)}</a>${deprecated ? '<span class="chip warn">Deprecated</span>' : ''}</h2>
<p class="route"><span class="method ${METHODS[method] ?? 'good'}">${method.toUpperCase()}</span><code>${escaped(path).replaceAll('/', '/<wbr>')}</code></p>
${description ? `<p>${inline(description)}</p>` : ''}
<p class="access">${accessOf(operation)}</p>
${inputOf(site, operation)}
${outputOf(operation)}
</div>
<div class="shown">${examples.map((example, nth) => exampleCard(site, route, example, nth)).join('\n')}</div>
</section>`
}

/** Who may call it. */
function accessOf(operation: Operation): string {
  const { 'x-scope': scope, 'x-users': users, security = [], parameters = [] } = operation
  if (scope === undefined) {
    if (security.length === 0) return 'No credentials needed.'
    return operation['x-session-only'] ? 'Needs a session.' : 'A session, or key and secret.'
  }
  const behalf = parameters.find(({ name }) => name === 'onBehalfOf')
  return [
    `API key with <code>${escaped(scope)}</code>${scope === 'authOnly' ? ' or <code>fullAccess</code>' : ''}`,
    ...(behalf ? [`${behalf.required ? 'with' : 'also with'} <code>onBehalfOf</code>`] : []),
    ...(users ? [users === 'self' ? "the user's own auth token" : 'auth token'] : []),
  ].join(' · ')
}

function inputOf({ document }: Site, { parameters = [], requestBody }: Operation): string {
  const titles = { path: 'Path', query: 'Query', header: 'Headers' }
  const lists = Object.entries(titles).map(([place, title]) => {
    const own = parameters.filter((parameter) => parameter.in === place)
    return own.length > 0 ? folded(title, parameterList(own), own.length <= 8, own.length) : ''
  })
  const schema = requestBody?.content?.['application/json']?.schema
  // Described here, because readers fill it in; records in answers are described once, on their own page.
  const named = schema?.$ref && document.components?.schemas?.[nameOf(schema.$ref)]
  const body = schema && fieldsOf(named || schema)
  return [...lists, body ? folded('Body', body, true) : ''].join('')
}

const folded = (title: string, html: string, open: boolean, count?: number) =>
  `<details class="part"${open ? ' open' : ''}><summary>${title}${count === undefined ? '' : `<span>${count}</span>`}</summary>${html}</details>`

function outputOf({ responses }: Operation): string {
  const schema = responses[200]?.content?.['application/json']?.schema
  const fields = schema && fieldsOf(schema)
  const codes = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { description = '' }]) => description.split(', '))
    .filter((name): name is ErrorCode => Object.hasOwn(errors, name))
  const rows = codes.map(
    (name) =>
      `<li><div class="name"><a href="{{docs}}/errors#${name}"><code>${name}</code></a><span class="type">${errors[name].status}</span></div></li>`,
  )
  return [
    fields ? folded('Answer', fields, false) : '',
    rows.length > 0
      ? folded('Errors', `<ul class="fields">${rows.join('')}</ul>`, false, rows.length)
      : '',
  ].join('')
}

/** The request in all languages, and the answer. The first example is open. */
function exampleCard(site: Site, route: Route, example: Example, nth: number): string {
  const { title, status, answer } = example
  const samples = samplesOf(route, example, site.callerOf(route.operation))
  const tabs = samples.map(
    ({ id, language }) => `<button type="button" data-language="${id}">${language}</button>`,
  )
  const blocks = samples.map(
    ({ id, code: text }) =>
      `<div class="sample" data-id="${id}">${codeBlock(withBlanks(site.blanks, code(text)))}</div>`,
  )
  return `<details class="example"${nth === 0 ? ' open' : ''}><summary>${escaped(title)}</summary>
<div class="tabs" role="group" aria-label="Language">${tabs.join('')}</div>${blocks.join('')}
<p class="answer">Answer<span class="chip ${status < 400 ? 'good' : 'danger'}">${status}</span></p>
${codeBlock(json(JSON.stringify(answer, null, 2)))}</details>`
}

/** Marks what the fields of the page fill in. */
const withBlanks = (blanks: Blank[], html: string) =>
  blanks.reduce(
    (marked, { id, text, value }) =>
      marked.replaceAll(
        text,
        `<span data-fill="${id}" data-text="${text}">${value || text}</span>`,
      ),
    html,
  )

function errorsPage(): string {
  const rows = Object.entries(errors).map(
    ([name, { status, retry, when }]) =>
      `<tr id="${name}"><td><code>${name}</code></td><td>${status}</td><td>${retry ? 'yes' : 'no'}</td><td>${inline(when)}</td></tr>`,
  )
  return `<article class="prose wide"><h1>Errors</h1><p>Every code that an answer can have. “Retry” says whether the same request can succeed later.</p>
<div class="table" tabindex="0"><table><thead><tr><th>Code</th><th>Status</th><th>Retry</th><th>When</th></tr></thead><tbody>${rows.join('')}</tbody></table></div></article>`
}

function recordsPage(
  schemas: NonNullable<NonNullable<ApiDocument['components']>['schemas']>,
): string {
  const sections = Object.entries(schemas).map(
    ([name, schema]) =>
      `<section id="${name}"><h2>${escaped(name)}</h2>${schema.description ? `<p>${inline(schema.description)}</p>` : ''}${fieldsOf(schema) || `<p class="rules">${escaped(JSON.stringify(schema))}</p>`}</section>`,
  )
  return `<article class="prose"><h1>Records</h1><p>The objects that operations take and return.</p>${sections.join('\n')}</article>`
}
