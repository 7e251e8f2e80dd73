import type { EmailDesign } from '../../../core/notifications/mail/design.ts'
import { attribute, escaped, inkOn } from '../../../core/notifications/mail/html.ts'
import { directionOf } from '../../../core/notifications/mail/strings.ts'

/** The page behind the link in an email; with a button if it asks first. */
export function unsubscribePage(
  { appName, logoUrl, language, accentColor }: EmailDesign,
  text: string,
  button?: string,
): string {
  const logo = logoUrl
    ? `<img src="${attribute(logoUrl)}" alt="${escaped(appName)}" height="32">`
    : `<strong>${escaped(appName)}</strong>`
  const form = button
    ? `<form method="post"><input type="hidden" name="List-Unsubscribe" value="One-Click"><button>${escaped(button)}</button></form>`
    : ''
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(button ?? appName)}</title>
<style>
:root{color-scheme:light dark;--page:#f6f3ef;--sheet:#fff;--line:#e8e2da;--ink:#292420}
@media (prefers-color-scheme:dark){:root{--page:#161412;--sheet:#211e1b;--line:#38332e;--ink:#f5f1ec}}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:16px;box-sizing:border-box;background:var(--page);color:var(--ink);font:15px/1.45 Inter,-apple-system,"Segoe UI",Roboto,Arial,"Noto Sans",sans-serif}
main{max-width:420px;background:var(--sheet);border:1px solid var(--line);border-radius:12px;padding:32px;overflow-wrap:anywhere}
img{display:block;height:32px}
p{margin:16px 0 0}
button{margin-top:20px;padding:11px 20px;border:0;border-radius:8px;background:${accentColor};color:${inkOn(accentColor)};font:inherit;font-weight:600;cursor:pointer}
</style>
</head>
<body><main>${logo}<p>${escaped(text)}</p>${form}</main></body>
</html>
`
}
