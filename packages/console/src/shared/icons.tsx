/** Drawn on a 16-pixel grid, in the current text colour. */
const PATHS = {
  home: 'M2 7.5 8 2.5l6 5M3.5 6.5V13.5h9V6.5M6.5 13.5v-4h3v4',
  chart: 'M2.5 13.5h11M4.5 11V8M8 11V3.5M11.5 11V6',
  user: 'M8 7.5a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM2.75 14c.4-2.7 2.5-4.25 5.25-4.25S12.85 11.3 13.25 14',
  group:
    'M6 7.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM1.5 13.5c.3-2.4 2.1-3.8 4.5-3.8s4.2 1.4 4.5 3.8M10.5 2.7a2.4 2.4 0 0 1 0 4.6M12 9.9c1.4.5 2.3 1.8 2.5 3.6',
  shield: 'M8 1.5 13.5 3.5V8c0 3.2-2.2 5.3-5.5 6.5C4.7 13.3 2.5 11.2 2.5 8V3.5Z',
  chat: 'M2.5 3h11v8H7l-3 2.75V11H2.5ZM5 6h6M5 8.25h4',
  bell: 'M3 11.5h10c-1-1-1.4-2-1.4-3.6V6.6a3.6 3.6 0 0 0-7.2 0v1.3C4.4 9.5 4 10.5 3 11.5ZM6.5 13.5a1.6 1.6 0 0 0 3 0',
  inbox: 'M2.5 9.5 4.5 3h7l2 6.5v4h-11ZM2.5 9.5H6a2 2 0 0 0 4 0h3.5',
  key: 'M10 9.5a3.5 3.5 0 1 0-3.3-2.3L2.5 11.5v2H5v-1.75h1.75V10l1-1A3.5 3.5 0 0 0 10 9.5ZM10.9 5.1h.01',
  webhook: 'M9 1.5 3.5 9H8l-1 5.5L12.5 7H8Z',
  team: 'M2.5 5.5h11v8h-11ZM6 5.5V3h4v2.5M2.5 9h11',
  audit: 'M3.5 2h9v12h-9ZM6 5.5h4M6 8h4M6 10.5h2.5',
  transfer: 'M5 13V3M2.5 5.5 5 3l2.5 2.5M11 3v10M8.5 10.5 11 13l2.5-2.5',
  jobs: 'M8 14.5a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13ZM8 4.5V8l2.5 2',
  settings: 'M2 4.5h6M11.5 4.5H14M9.75 2.75v3.5M2 11.5h2.5M8 11.5h6M6.25 9.75v3.5',
  menu: 'M2 4h12M2 8h12M2 12h12',
  close: 'M3.5 3.5l9 9M12.5 3.5l-9 9',
  check: 'M3 8.5 6.5 12 13 4.5',
  eye: 'M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4Z',
  copy: 'M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3',
  sun: 'M8 10.75a2.75 2.75 0 1 0 0-5.5 2.75 2.75 0 0 0 0 5.5ZM8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1.1 1.1M11.9 11.9 13 13M13 3l-1.1 1.1M4.1 11.9 3 13',
  moon: 'M13.5 9.5A5.75 5.75 0 0 1 6.5 2.5a5.75 5.75 0 1 0 7 7Z',
  system: 'M2 3h12v8H2ZM6 13.5h4',
  down: 'M4 6l4 4 4-4',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9ZM10.25 10.25 14 14',
  trash: 'M2.5 4h11M6 4V2.5h4V4M4 4l.60 9.5h6.8L12 4',
  edit: 'M10.5 3 13 5.5 5.5 13H3v-2.5ZM9 4.5 11.5 7',
  filter: 'M2 4h12M4.5 8h7M6.5 12h3',
  send: 'M2 8 14 2.5 10.5 14 7.5 9ZM7.5 9 14 2.5',
  braces:
    'M6 2.5c-2 0-2 1-2 2.5S4 8 2.5 8C4 8 4 9.5 4 11s0 2.5 2 2.5M10 2.5c2 0 2 1 2 2.5s0 3 1.5 3C12 8 12 9.5 12 11s0 2.5-2 2.5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  file: 'M4 1.5h5.5L12.5 4.5v10H4ZM9.5 1.5v3h3',
  reply: 'M6.5 3.5 2.5 7.5l4 4M2.5 7.5H10c2 0 3.5 1.5 3.5 4v1',
  out: 'M6 2.5H2.5v11H6M10 4.5 13.5 8 10 11.5M13.5 8H6',
  phone:
    'M3.2 2.5h2.4l1.1 3-1.5 1.2a8 8 0 0 0 4.1 4.1l1.2-1.5 3 1.1v2.4c0 .5-.4.9-.9.9C7.4 13.5 2.5 8.6 2.3 3.4c0-.5.4-.9.9-.9Z',
  video: 'M1.5 4h9v8h-9ZM10.5 7l4-2.5v7l-4-2.5',
  spark:
    'M7 2.5 8.4 6.6 12.5 8 8.4 9.4 7 13.5 5.6 9.4 1.5 8l4.1-1.4ZM12.8 1.5v3M11.3 3h3M13 12v2.5M11.75 13.25h2.5',
  checkedShield:
    'M8 1.5 13.5 3.5V8c0 3.2-2.2 5.3-5.5 6.5C4.7 13.3 2.5 11.2 2.5 8V3.5ZM5.5 7.8l2 2 3.2-3.6',
  warn: 'M8 2 15 14H1ZM8 6.5v3.5M8 12h.01',
} as const

export type IconName = keyof typeof PATHS

export const Icon = ({ name }: { name: IconName }) => (
  <svg
    viewBox="0 0 16 16"
    width="16"
    height="16"
    fill="none"
    stroke="currentColor"
    strokeWidth="1.4"
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
  >
    <path d={PATHS[name]} />
  </svg>
)

/** The logo: a loquat with its leaf. */
export const Mark = () => (
  <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true">
    <path
      fill="currentColor"
      d="M10 6.2c4 0 6.5 2.7 6.5 6.2S13.8 18.8 10 18.8 3.5 15.9 3.5 12.4 6 6.2 10 6.2Z"
    />
    <path
      fill="currentColor"
      opacity=".55"
      d="M10.3 5.4C10.3 3 12 1.3 15.6 1.2c0 2.9-1.9 4.5-5.3 4.2Z"
    />
  </svg>
)
