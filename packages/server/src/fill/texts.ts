/**
 * Realistic message texts: common words, thousands of rare ones, and scripts without spaces. Measurements rely on
 * these facts: one message in eight contains COMMON_WORD, one in 200,000 each of the RARE ones, and none contains
 * MISSING_WORD, although many contain its parts.
 */
import { type Draw, pick } from './names.ts'

export const COMMON_WORD = 'station'
export const RARE_WORD = 'Quetzalcóatl'
export const RARE_JAPANESE = '麒麟'
export const MISSING_WORD = 'tomorring'
const RARE_EVERY = 200_000

const split = (words: string) => words.split(' ')

const COMMON = split(
  'yes no thanks see you tomorrow at the station when does it start I will bring some bread and tea that sounds good to me where are we meeting не знаю можно завтра café déjà größer 🙂 👍',
)
/** Three thousand more words. */
const parts = [
  split('ba com dis ex for gra hol in ju kro lam mor no par qui re sta tri un vel'),
  split('bar cen den fi gal mer nor ping ra sol ter vis'),
  split('ance d ely ing ment ness s tion ure y er al'),
] as const
const JAPANESE = split(
  '明日は 今日は 駅で 東京で 会いましょう 電車が 遅れて います お昼ご飯を 食べました 写真を 送ります ありがとう こんにちは',
)
const THAI = split('พรุ่งนี้ เจอกัน ที่ สถานี กินข้าว หรือยัง ขอบคุณ มาก ครับ สวัสดี รูปภาพ ส่งแล้ว')

const series = (count: number, word: () => string, between: string) =>
  Array.from({ length: count }, word).join(between)

const word = (draw: Draw) =>
  draw(3) === 0 ? parts.map((list) => pick(draw, list)).join('') : pick(draw, COMMON)

/** The text of the message with this id. */
export function drawText(draw: Draw, id: number): string {
  const script = draw(100)
  const rare = rareIn(id)
  if (script < 8) return series(2 + draw(5), () => pick(draw, JAPANESE), '') + rare
  if (script < 12) return series(2 + draw(5), () => pick(draw, THAI), '') + rare
  const text = series(2 + draw(4) * draw(6), () => word(draw), ' ')
  const link = script < 14 ? ` https://example.com/${id}` : ''
  return [text, link, rare && ` ${rare}`].join('')
}

function rareIn(id: number): string {
  if (id % RARE_EVERY === 1_000) return RARE_WORD
  return id % RARE_EVERY === 2_000 ? RARE_JAPANESE : ''
}
