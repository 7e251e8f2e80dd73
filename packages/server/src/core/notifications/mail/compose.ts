/**
 * An email about unread messages of one conversation, as HTML and as text. A pure function of what it shows. Mail
 * programs know little of CSS: tables make the layout, styles stand at each element, and a style sheet only adds dark
 * mode and narrow screens.
 */
import { shortened } from '../render.ts'
import type { EmailDesign } from './design.ts'
import { attribute, escaped, inkOn, paragraphs } from './html.ts'
import { directionOf, stringsOf } from './strings.ts'

export interface ShownAttachment {
  kind: 'image' | 'video' | 'audio' | 'file'
  name: string
  /** A link of ours that shows a thumbnail for a while. */
  thumbnail?: { url: string; width: number; height: number }
}

export interface ShownMail {
  design: EmailDesign
  /** The reader's time zone. */
  zone: string
  /** The name of the app or sender. */
  appName: string
  group: boolean
  /** The name of the group or of the other user. */
  with: string
  messages: { sender: string; at: Date; text: string; attachments: ShownAttachment[] }[]
  /** How many there are; `messages` are the newest of them, or none for privacy. */
  count: number
  links: { open?: string; unsubscribe: string }
  /** Whether answers to the email become messages. */
  replies: boolean
}

const LONGEST_TEXT = 600
const THUMBNAIL = 240
const FONT =
  "Inter,-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans','Noto Color Emoji',sans-serif"
/** Backgrounds of initials. White can be read on all of them. */
const AVATARS = ['#9a5b13', '#3f6b4f', '#47639c', '#8a4a6b', '#6b5b95', '#2f6f7a', '#7a5c3a']

export function composeMail(mail: ShownMail): { html: string; text: string } {
  return { html: htmlOf(mail), text: textOf(mail) }
}

const headingOf = ({ design, group, with: name, count }: ShownMail) => {
  const strings = stringsOf(design.language)
  return {
    title: strings.newMessages(count),
    subtitle: group ? strings.inGroup(name) : strings.from(name),
  }
}

const timeFormat = ({ design: { language }, zone }: ShownMail) =>
  new Intl.DateTimeFormat(language, { timeZone: zone, dateStyle: 'medium', timeStyle: 'short' })

function textOf(mail: ShownMail): string {
  const { design, messages, count, links, replies, appName } = mail
  const strings = stringsOf(design.language)
  const times = timeFormat(mail)
  const { title, subtitle } = headingOf(mail)
  const blocks = messages.map(({ sender, at, text, attachments }) => {
    const files = attachments.map(({ kind, name }) => `[${strings[kind]}: ${name}]`)
    const lines = [shortened(text, LONGEST_TEXT), ...files].filter(Boolean)
    return [`${sender} – ${times.format(at)}`, ...lines].join('\n')
  })
  const rest = count - messages.length
  return [
    `${title} ${subtitle}`,
    ...blocks,
    ...(rest > 0 && messages.length > 0 ? [strings.more(rest)] : []),
    ...(links.open ? [`${strings.open}: ${links.open}`] : []),
    ...(replies ? [strings.reply] : []),
    // The mark of a signature: replies are cut here.
    `-- \n${strings.why(appName)}\n${strings.unsubscribe}: ${links.unsubscribe}`,
    ...(design.footer ? [design.footer] : []),
  ].join('\n\n')
}

const STYLE = `
:root{color-scheme:light dark;supported-color-schemes:light dark}
body{margin:0;padding:0;-webkit-text-size-adjust:100%}
a{color:inherit}
@media (max-width:599px){
  .frame{padding:0!important}
  .sheet{border-radius:0!important;border-left:0!important;border-right:0!important}
  .pad{padding-left:20px!important;padding-right:20px!important}
  .button a{display:block!important;text-align:center!important}
  .button,.button table{width:100%!important}
}
@media (prefers-color-scheme:dark){
  body,.page{background:#161412!important}
  .sheet{background:#211e1b!important;border-color:#38332e!important}
  .ink{color:#f5f1ec!important}
  .quiet{color:#b3aaa1!important}
  .line{border-color:#38332e!important}
  .chip{background:#2d2925!important;color:#f5f1ec!important}
}`.trim()

function htmlOf(mail: ShownMail): string {
  const { design, messages, count, links, replies, appName } = mail
  const strings = stringsOf(design.language)
  const { title, subtitle } = headingOf(mail)
  const times = timeFormat(mail)
  const direction = directionOf(design.language)
  const start = direction === 'rtl' ? 'right' : 'left'
  const preview = messages.at(0)
  const rest = count - messages.length
  const ink = 'color:#292420'
  const quiet = 'color:#6f665e'
  const rows = messages.map((message, n) => messageRow(message, { n, times, start, strings }))
  return `<!doctype html>
<html lang="${design.language}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no,date=no,address=no,email=no">
<title>${escaped(`${title} ${subtitle}`)}</title>
<style>${STYLE}</style>
</head>
<body class="page" style="margin:0;padding:0;background:#f6f3ef">
<div style="display:none;max-height:0;overflow:hidden">${escaped(
    preview
      ? `${preview.sender}: ${shortened(preview.text || title, 120)}`
      : `${title} ${subtitle}`,
  )}</div>
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="page" style="background:#f6f3ef"><tr><td class="frame" align="center" style="padding:32px 16px">
<table role="presentation" width="100%" cellpadding="0" cellspacing="0" class="sheet" style="max-width:568px;background:#ffffff;border:1px solid #e8e2da;border-radius:12px;border-collapse:separate;font-family:${FONT};font-size:15px;line-height:1.45">
<tr><td class="pad ink" style="padding:24px 32px 0;${ink};font-size:16px;font-weight:600;text-align:${start}">${logo(design, appName)}</td></tr>
<tr><td class="pad" style="padding:20px 32px 4px;text-align:${start}"><div class="ink" style="${ink};font-size:20px;line-height:1.3;font-weight:600">${escaped(title)}</div><div class="quiet" style="${quiet};font-size:14px;overflow-wrap:anywhere">${escaped(subtitle)}</div></td></tr>
<tr><td class="pad" style="padding:8px 32px 0"><table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="table-layout:fixed">
${rows.join('\n')}
</table></td></tr>
${rest > 0 && messages.length > 0 ? `<tr><td class="pad quiet" style="padding:4px 32px 0;${quiet};font-size:14px;text-align:${start}">${escaped(strings.more(rest))}</td></tr>` : ''}
${links.open ? button(links.open, strings.open, design.accentColor, start) : ''}
${replies ? `<tr><td class="pad quiet" style="padding:16px 32px 0;${quiet};font-size:14px;text-align:${start}">${escaped(strings.reply)}</td></tr>` : ''}
<tr><td class="pad" style="padding:24px 32px 24px"><div class="line quiet" style="border-top:1px solid #e8e2da;padding-top:16px;${quiet};font-size:12px;text-align:${start};overflow-wrap:anywhere">${escaped(strings.why(appName))} <a class="quiet" href="${attribute(links.unsubscribe)}" style="${quiet};text-decoration:underline">${escaped(strings.unsubscribe)}</a>${design.footer ? `<br><br>${paragraphs(design.footer)}` : ''}</div></td></tr>
</table>
</td></tr></table>
</body>
</html>
`
}

const logo = ({ logoUrl }: EmailDesign, appName: string) =>
  logoUrl
    ? `<img src="${attribute(logoUrl)}" alt="${escaped(appName)}" height="32" style="display:block;height:32px;width:auto;border:0">`
    : escaped(appName)

const button = (url: string, label: string, color: string, start: string) =>
  `<tr><td class="pad" style="padding:20px 32px 0;text-align:${start}"><table role="presentation" cellpadding="0" cellspacing="0" class="button"><tr><td style="border-radius:8px;background:${color}"><a href="${attribute(url)}" style="display:inline-block;padding:11px 20px;border-radius:8px;background:${color};color:${inkOn(color)};font-size:15px;font-weight:600;text-decoration:none">${escaped(label)}</a></td></tr></table></td></tr>`

interface RowOptions {
  n: number
  times: Intl.DateTimeFormat
  start: string
  strings: ReturnType<typeof stringsOf>
}

function messageRow(
  { sender, at, text, attachments }: ShownMail['messages'][number],
  { n, times, start, strings }: RowOptions,
): string {
  const line = n === 0 ? '' : 'border-top:1px solid #f0ebe4;'
  const files = attachments.map((attachment) => attachmentBlock(attachment, strings)).join('')
  const shown = text
    ? `<div class="ink" dir="auto" style="color:#292420;overflow-wrap:anywhere">${paragraphs(shortened(text, LONGEST_TEXT))}</div>`
    : ''
  return `<tr><td width="48" valign="top" class="line" style="${line}padding:14px 0;width:48px">${avatar(sender)}</td><td valign="top" class="line" style="${line}padding:14px 0;text-align:${start}"><div style="font-size:13px;overflow-wrap:anywhere"><span class="ink" dir="auto" style="color:#292420;font-weight:600">${escaped(sender)}</span> <span class="quiet" style="color:#6f665e">&nbsp;${escaped(times.format(at))}</span></div>${shown}${files}</td></tr>`
}

function avatar(name: string): string {
  const letters = name.match(/[\p{L}\p{N}]+/gu) ?? []
  const first = [...new Intl.Segmenter().segment(letters[0] ?? '?')][0]?.segment ?? '?'
  const sum = [...name].reduce((total, letter) => total + (letter.codePointAt(0) ?? 0), 0)
  const color = AVATARS[sum % AVATARS.length]
  return `<table role="presentation" cellpadding="0" cellspacing="0"><tr><td width="36" height="36" align="center" valign="middle" aria-hidden="true" style="width:36px;height:36px;border-radius:18px;background:${color};color:#ffffff;font-size:14px;line-height:36px;font-weight:600">${escaped(first.toUpperCase())}</td></tr></table>`
}

function attachmentBlock(
  { kind, name, thumbnail }: ShownAttachment,
  strings: ReturnType<typeof stringsOf>,
): string {
  if (!thumbnail) {
    return `<div style="padding-top:8px"><span class="chip" style="display:inline-block;max-width:100%;padding:6px 12px;border-radius:16px;background:#f3eee8;color:#292420;font-size:13px;overflow-wrap:anywhere">${escaped(strings[kind])} · ${escaped(shortened(name, 80))}</span></div>`
  }
  const scale = Math.min(1, THUMBNAIL / Math.max(thumbnail.width, thumbnail.height, 1))
  const [width, height] = [thumbnail.width, thumbnail.height].map((side) =>
    Math.max(1, Math.round(side * scale)),
  )
  return `<div style="padding-top:8px"><img class="chip" src="${attribute(thumbnail.url)}" alt="${escaped(`${strings[kind]}: ${shortened(name, 80)}`)}" width="${width}" height="${height}" style="display:block;max-width:100%;border:0;border-radius:8px;background:#f3eee8;color:#6f665e;font-size:13px"></div>`
}
