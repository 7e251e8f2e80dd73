/**
 * Realistic names: several scripts, accents, common and rare words. Measurements rely on these facts: one user in
 * nine is called Maria, only a handful have the name RARE, and no name contains a `q`.
 */

export const RARE = 'Zephyrine'

const split = (words: string) => words.split(' ')

const latin = {
  first: split(
    'Ana José Łukasz Ahmed Zoë Wei Priya Björn Chloé John Olga Søren Élodie Amira Ben Cleo Dmitri Fatima Giulia ' +
      'Hans Ines Jürgen Kofi Lena Mateo Nia Omar Paula Rosa Sven Tariku Uma Viktor Wanda Ximena Yusuf Zainab Åsa Íris ' +
      'Ömer Ürün Noé Renée Siân Seán André Çelik Đorđe Grace Henry Ivy Jack Kate Leo Mia Noah Oscar Ruby Sam Tess Will',
  ),
  last: split(
    'García Müller Smith Kowalski Nakamura Silva Okafor Þórsson Lefèvre Jansen Rossi Novák Haddad Kim Lindström ' +
      "O'Brien Dvořák Papadopoulos Hernández Nguyễn Yılmaz Öztürk Brown Jones Davies Evans Taylor Wilson Walker Khan " +
      'Patel Singh Mehta Mensah Diallo Traoré Abebe Santos Oliveira Costa Fernández López Muñoz Ibáñez Weber Wagner ' +
      'Becker Schäfer Koch Hoffmann Bianchi Ferrari Ricci Moreau Laurent Dubois Petit Andersson Nilsson Hansen Virtanen',
  ),
}
/** Syllables of generated surnames, for as many different words as a large app has. */
const syllables = [
  split(
    'Al Bar Cor Dan El Fen Gar Hol Il Jor Kar Lun Mor Nor Or Pel Ros Sal Tor Ul Ven Wes Yar Zan',
  ),
  split('a be di e fo gu ha i jo ke la mo ni o pe ra si to u ve wi ya zo'),
  split(
    'berg by cek dahl dez dottir feld ford grove ham kov land ley lund man nen off ova rath sen ska son ton wood',
  ),
] as const

/** The other scripts, each with its share of users in percent. */
const scripts: { share: number; first: string[]; last: string[]; order: 'first' | 'last' }[] = [
  {
    share: 6,
    order: 'first',
    first: split('Пётр Ирина Алексей Мария Ольга Иван Наталья Сергей Юлия Артём'),
    last: split('Иванов Смирнов Кузнецов Попов Соколов Лебедев Козлов Новиков Морозов Волков'),
  },
  {
    share: 6,
    order: 'last',
    first: split('伟 芳 娜 敏 静 丽 强 磊 军 洋 花子 太郎 健太 美咲 翔 陽菜'),
    last: split('王 李 张 刘 陈 杨 黄 赵 田中 佐藤 鈴木 高橋 山田 小林 中村 渡辺'),
  },
  {
    share: 3,
    order: 'last',
    first: split('민준 서연 지우 하은 도윤 서준'),
    last: split('김 이 박 최 정 강'),
  },
  {
    share: 3,
    order: 'first',
    first: split('محمد فاطمة أحمد عائشة علي مريم يوسف نور'),
    last: split('حسن الخطيب منصور صالح عباس الشامي'),
  },
  {
    share: 2,
    order: 'first',
    first: split('Γιώργος Μαρία Νίκος Ελένη Κώστας Σοφία'),
    last: split('Παπαδόπουλος Νικολάου Γεωργίου Δημητρίου Αντωνίου'),
  },
  {
    share: 2,
    order: 'first',
    first: split('आरव प्रिया रोहन अनन्या विवान दिया'),
    last: split('शर्मा वर्मा पटेल सिंह गुप्ता'),
  },
]

const emoji = split('🙂 🚀 🌸 🎧 🦊 ⚽ 🌍 🎨')

/** Returns pseudo-random integers from 0 to `below` - 1. The same seed gives the same sequence. */
export type Draw = (below: number) => number

/** The mulberry32 generator: fast, and good enough for names. */
export function drawFrom(seed: number): Draw {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

export const pick = (draw: Draw, words: readonly string[]): string =>
  words[draw(words.length)] ?? ''

export function drawName(draw: Draw): string {
  const name = drawWords(draw)
  return draw(30) === 0 ? `${name} ${pick(draw, emoji)}` : name
}

function drawWords(draw: Draw): string {
  let left = draw(100)
  for (const { share, first, last, order } of scripts) {
    left -= share
    if (left >= 0) continue
    const words = [pick(draw, first), pick(draw, last)]
    return order === 'first' ? words.join(' ') : words.toReversed().join(' ')
  }
  return drawLatin(draw)
}

function drawLatin(draw: Draw): string {
  const first = draw(7) === 0 ? 'Maria' : pick(draw, latin.first)
  const middle = draw(4) === 0 ? ` ${pick(draw, latin.first)}` : ''
  const last =
    draw(2) === 0 ? pick(draw, latin.last) : syllables.map((part) => pick(draw, part)).join('')
  return `${first}${middle} ${last}`
}
