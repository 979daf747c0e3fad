/** The words of the components that several pages share, grouped by component. */

export const loadingStrings = {
  loading: (what: string) => `Loading ${what}…`,
} as const

export const contentStrings = {
  copy: (what: string) => `Copy ${what}`,
  copied: 'Copied',
  code: 'code',
  table: 'Table',
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
