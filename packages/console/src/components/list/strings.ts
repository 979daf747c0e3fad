/** The words of lists: shortcuts, export, new items and empty states. */
import { formatCount } from '../format.ts'

export const listStrings = {
  new: (count: number) => `${formatCount(count)} new`,
  nothingRecent: 'No matches among the newest',
  searchFurther: 'Search further back',
  noMatch: (noun: string) => `No matching ${noun}s`,
  clearFilters: 'Clear filters',
  export: 'Export',
  exporting: (count: number) => `Stop, ${formatCount(count)} so far`,
  exported: (items: string) => `${items} exported`,
  exportStopped: 'Export stopped',
  exportFailed: (message: string) => `Export failed: ${message}`,
  copiedId: 'Id copied',
  shortcuts: {
    next: (noun: string) => `Next ${noun}`,
    previous: (noun: string) => `Previous ${noun}`,
    open: (noun: string) => `Open ${noun}`,
    copyId: (noun: string) => `Copy ${noun} id`,
    close: 'Close',
    filter: 'Filter',
  },
} as const
