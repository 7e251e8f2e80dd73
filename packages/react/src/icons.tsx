/** Drawn on a 16-pixel grid, in the current text colour. */
const PATHS = {
  back: 'M9.5 3.5 5 8l4.5 4.5',
  camera: 'M1.5 4.5h8.5v7H1.5ZM10 7.25l4.5-2.5v6.5L10 8.75',
  cameraOff: 'M5.5 4.5H10v4.5M8.5 11.5h-7v-7h1M10 7.25l4.5-2.5v6.5l-2-1.1M2 2l12 12',
  bell: 'M4 11.5V7a4 4 0 0 1 8 0v4.5l1 1H3ZM6.75 12.5a1.25 1.25 0 0 0 2.5 0',
  bellOff: 'M12 9.5V7a4 4 0 0 0-6.2-3.3M4 7v4.5l-1 1h9.5M6.75 12.5a1.25 1.25 0 0 0 2.5 0M2 2l12 12',
  block: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM3.8 3.8l8.4 8.4',
  check: 'M3 8.5 6.5 12 13 4.5',
  checks: 'M1.5 8.5 4.5 11.5 10 5M7.5 11l.75.75L14.5 5',
  clock: 'M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12ZM8 5v3.25l2 1.25',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  code: 'm5 4.5-3.5 3.5L5 11.5M11 4.5l3.5 3.5L11 11.5M9.25 3 6.75 13',
  copy: 'M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3',
  down: 'M8 3v10M3.75 8.75 8 13l4.25-4.25',
  edit: 'M10.5 3 13 5.5 5.5 13H3v-2.5ZM9 4.5 11.5 7',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 9.75a1.75 1.75 0 1 0 0-3.5 1.75 1.75 0 0 0 0 3.5Z',
  file: 'M4 1.5h5.5L12.5 4.5v10H4ZM9.5 1.5v3h3',
  flag: 'M3.5 14V2.5h8.5l-1.75 3 1.75 3H3.5',
  grid: 'M2.5 2.5h4.5v4.5h-4.5ZM9 2.5h4.5v4.5h-4.5ZM2.5 9h4.5v4.5h-4.5ZM9 9h4.5v4.5h-4.5Z',
  info: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 7.25v3.5M8 5.25h.01',
  leave: 'M6.5 2.5h-4v11h4M10.5 4.5 14 8l-3.5 3.5M14 8H6',
  mic: 'M8 1.75a2 2 0 0 1 2 2v3.75a2 2 0 0 1-4 0V3.75a2 2 0 0 1 2-2ZM3.5 7.5a4.5 4.5 0 0 0 9 0M8 12v2.25',
  micOff:
    'M6 6v1.5a2 2 0 0 0 3 1.7M10 7V3.75a2 2 0 0 0-3.8-.9M3.5 7.5a4.5 4.5 0 0 0 7 3.7M12.3 9a4.5 4.5 0 0 0 .2-1.5M8 12v2.25M2 2l12 12',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  paperclip:
    'm13 7.5-5.2 5.2a3.2 3.2 0 0 1-4.5-4.5L8.7 2.8a2.1 2.1 0 0 1 3 3L6.4 11.1a1 1 0 0 1-1.5-1.5L9.8 4.8',
  pause: 'M5.5 3.5v9M10.5 3.5v9',
  people:
    'M6 7.5A2.5 2.5 0 1 0 6 2.5a2.5 2.5 0 0 0 0 5ZM1.5 13.5a4.5 4.5 0 0 1 9 0M10.5 2.75a2.5 2.5 0 0 1 0 4.5M12 9.5a4.5 4.5 0 0 1 2.5 4',
  phone: 'M5.5 2.5H3A12 12 0 0 0 13.5 13v-2.5l-3-1.25-1.25 1.5a9 9 0 0 1-4-4L6.75 5.5Z',
  phoneDown: 'M1.5 9.5a9.5 9.5 0 0 1 13 0l-1.5 2-2.75-1.25V8.4a9 9 0 0 0-4.5 0v1.85L3 11.5Z',
  pin: 'M6 2h4l-.5 4 2.5 2.5H4L6.5 6ZM8 8.5V14',
  play: 'M5 3.25v9.5L12.5 8Z',
  plus: 'M8 3v10M3 8h10',
  quote: 'M3 4.5h4v4.5c0 1.5-1 2.5-2.5 2.5M9 4.5h4v4.5c0 1.5-1 2.5-2.5 2.5',
  reply: 'M2.5 3h11v8H7l-3 2.75V11H2.5Z',
  right: 'M6.5 3.5 11 8l-4.5 4.5',
  screen: 'M1.5 3h13v8.5h-13ZM5.5 14h5M8 9.5v-4M6 7.25l2-2 2 2',
  search: 'M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM10.75 10.75 14 14',
  send: 'M2 8 14 2.5 10.5 14 7.5 9ZM7.5 9 14 2.5',
  smile: 'M8 14a6 6 0 1 0 0-12 6 6 0 0 0 0 12ZM5.5 9.5a2.9 2.9 0 0 0 5 0M6 6.25h.01M10 6.25h.01',
  spotlight: 'M1.5 2.5h13v7.5h-13ZM1.5 12h3.5v2h-3.5ZM6.25 12h3.5v2h-3.5ZM11 12h3.5v2h-3.5Z',
  stop: 'M4.5 4.5h7v7h-7Z',
  switch: 'M5 6l3-3 3 3M5 10l3 3 3-3',
  thumbDown:
    'M5 9V2.5H2.5V9ZM5 9l2.5 5a1.5 1.5 0 0 0 1.5-1.5V10h3.5a1.25 1.25 0 0 0 1.2-1.5l-1-5A1.25 1.25 0 0 0 11.5 2.5H5',
  thumbUp:
    'M5 7v6.5H2.5V7ZM5 7l2.5-5A1.5 1.5 0 0 1 9 3.5V6h3.5a1.25 1.25 0 0 1 1.2 1.5l-1 5a1.25 1.25 0 0 1-1.2 1H5',
  trash: 'M2.5 4h11M6 4V2.5h4V4M4 4l.6 9.5h6.8L12 4',
  up: 'M8 13V3M3.75 7.25 8 3l4.25 4.25',
  warn: 'M8 2 15 14H1ZM8 6.5v3.5M8 12h.01',
  window: 'M9.5 2.5h4v4M13.5 2.5 8 8M12 9.5v4H2.5V4h4',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name, size = 16 }: { name: IconName; size?: number }) => (
  <svg
    className="lq-icon"
    data-icon={name}
    viewBox="0 0 16 16"
    width={size}
    height={size}
    fill="none"
    stroke="currentColor"
    strokeWidth={name === 'more' ? 2 : 1.4}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
)
