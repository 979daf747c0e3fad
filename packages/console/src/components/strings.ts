/** The words of the components that several pages share, grouped by component. */
import { pluralize } from './format.ts'

export const loadingStrings = {
  loading: (what: string) => `Loading ${what}…`,
} as const

export const configRejectionStrings = {
  title: 'The configuration file is not applied',
  since: 'since',
  advice:
    'The hub continues with its previous configuration. Correct the file, and the hub applies it at once. Variables of ${env:…} are those that the hub was started with.',
  open: 'Open configuration',
} as const

export const contentStrings = {
  copy: (what: string) => `Copy ${what}`,
  copied: 'Copied',
  copiedThat: (label: string) => `${label}: copied`,
  id: 'ID',
  code: 'code',
  table: 'Table',
  image: 'image',
  checked: 'Done',
  unchecked: 'Not done',
  sortBy: (column: string) => `Sort by ${column}`,
  showMoreRows: (count: string) => `Show more of ${count} remaining rows`,
  list: 'list',
  object: 'object',
  item: 'item',
  asTable: 'Table',
  asTree: 'Tree',
  showMore: (count: string) => `Show more of ${count} remaining`,
  showAllCharacters: (count: string) => `Show all ${count} characters`,
  copyValue: (path: string) => (path === '' ? 'Copy value' : `Copy value of ${path}`),
  copyPath: (path: string) => `Copy path ${path}`,
  path: 'path',
} as const

export const layoutStrings = {
  product: 'Parley',
  close: 'Close',
  closeTitle: 'Close (Esc)',
  /** Not “Cancel”, which is what some of these dialogs ask about. */
  notNow: 'Not now',
  listWidth: 'Width of the list',
  selected: 'Selected',
} as const

export const diffStrings = {
  same: 'No differences.',
  summary: (removed: number, added: number) =>
    `${pluralize(removed, 'line')} removed, ${pluralize(added, 'line')} added`,
  unchanged: (count: number) => pluralize(count, 'unchanged line'),
  moreLines: (count: number) => `Show ${pluralize(count, 'more line')}`,
} as const
