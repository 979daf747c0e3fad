/** Icons in the colour of the text beside them. They carry no meaning of their own: a word stands beside each. */
const strokes = {
  overview: 'M2.5 13.5h11M4.5 11V7.5M8 11V3M11.5 11V5.5',
  agents:
    'M8 2v2M4 4h8a1.5 1.5 0 0 1 1.5 1.5v6A1.5 1.5 0 0 1 12 13H4a1.5 1.5 0 0 1-1.5-1.5v-6A1.5 1.5 0 0 1 4 4zM6 8v1M10 8v1',
  playground:
    'M2.5 4A1.5 1.5 0 0 1 4 2.5h8A1.5 1.5 0 0 1 13.5 4v5a1.5 1.5 0 0 1-1.5 1.5H7L4 13.5v-3A1.5 1.5 0 0 1 2.5 9z',
  tasks: 'M6 4h7.5M6 8h7.5M6 12h7.5M2.5 4h.5M2.5 8h.5M2.5 12h.5',
  traces: 'M2.5 3.5h6M5 8h6M8 12.5h5.5',
  webhooks: 'M8 13.5v-8M4.5 8.5 8 5l3.5 3.5M3 2.5h10',
  settings: 'M2.5 5h6M11.5 5h2M2.5 11h2M7.5 11h6M10 3.5v3M6 9.5v3',
  search: 'M7 11.5a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.5 10.5l3 3',
  copy: 'M5.5 5.5h7v7h-7zM3.5 10.5v-7h7',
  check: 'M3 8.5l3 3 7-7',
  close: 'M4 4l8 8M12 4l-8 8',
  back: 'M9.5 3.5 5 8l4.5 4.5',
  next: 'M6.5 3.5 11 8l-4.5 4.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  plus: 'M8 3v10M3 8h10',
  sun: 'M8 10.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.5 3.5l.7.7M11.8 11.8l.7.7M12.5 3.5l-.7.7M4.2 11.8l-.7.7',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  send: 'M2.5 8h10M8.5 4l4 4-4 4',
  stop: 'M4.5 4.5h7v7h-7z',
  retry: 'M3 8a5 5 0 1 0 1.5-3.5M3 2.5v3h3',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  clip: 'M11 5.5 6.5 10a1.5 1.5 0 0 0 2 2l4-4a3 3 0 0 0-4.5-4.5l-4 4a4.5 4.5 0 0 0 6.5 6.5l3-3',
  braces: 'M6 2.5c-1.5 0-2 .5-2 2v2L2.5 8 4 9.5v2c0 1.5.5 2 2 2M10 2.5c1.5 0 2 .5 2 2v2L13.5 8 12 9.5v2c0 1.5-.5 2-2 2',
  compare: 'M2.5 3h4.5v10H2.5zM9 3h4.5v10H9z',
  download: 'M8 2.5v8M4.5 7.5 8 11l3.5-3.5M3 13.5h10',
  key: 'M5.5 10.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8.5 7.5h5M11.5 7.5v2.5',
  out: 'M6 3.5H3.5v9H6M8 8h5.5M11 5.5 13.5 8 11 10.5',
  warning: 'M8 2.5 14 13H2zM8 6.5v3M8 11v.5',
  play: 'M5 3.5v9l7-4.5z',
  more: 'M3.5 8h.5M8 8h.5M12.5 8h.5',
  globe:
    'M8 13.5a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM2.5 8h11M8 2.5c1.8 1.6 2.5 3.4 2.5 5.5s-.7 3.9-2.5 5.5C6.2 11.9 5.5 10.1 5.5 8S6.2 4.1 8 2.5z',
  spark: 'M8 2.5 9.4 6.6 13.5 8 9.4 9.4 8 13.5 6.6 9.4 2.5 8 6.6 6.6z',
  loop: 'M4 6.5A4.5 4.5 0 0 1 12.5 7M12 9.5A4.5 4.5 0 0 1 3.5 9M12.5 4v3h-3M3.5 12V9h3',
  plug: 'M6 2.5v3M10 2.5v3M4 5.5h8V8a4 4 0 0 1-8 0zM8 12v1.5',
  terminal: 'M2.5 3.5h11v9h-11zM5 6.5 7 8 5 9.5M8.5 10H11',
  code: 'M5.5 5 2.5 8l3 3M10.5 5l3 3-3 3M9 3.5l-2 9',
  gateway: 'M3 13.5V6a5 5 0 0 1 10 0v7.5M3 8.5h10M8 1v12.5',
  pencil: 'M3 13l.5-3L10.5 3 13 5.5 6 12.5z',
  protocol: 'M2.5 5h9M9 2.5 11.5 5 9 7.5M13.5 11h-9M7 8.5 4.5 11 7 13.5',
} as const

export type IconName = keyof typeof strokes

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={strokes[name]} />
    </svg>
  )
}
