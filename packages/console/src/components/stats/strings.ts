/** The words of charts and tables of statistics. */
import { formatCount, pluralize } from '../format.ts'

import { peak, rangeNames, type StatRange } from './stat-range.ts'

export const statsStrings = {
  perMinute: (rate: string) => `${rate} / min`,
  noValue: '–',
  openTasks: (when: string) => `Tasks of ${when}`,
  requests: {
    title: 'Requests',
    line: 'requests',
    none: (range: StatRange) => `No requests in ${rangeNames[range]}.`,
    summary: (count: number, range: StatRange, most: string, when: string) =>
      `${pluralize(count, 'request')} in ${rangeNames[range]}, ${peak(most, when)}.`,
  },
  errors: {
    title: 'Errors',
    failedLine: 'failed tasks',
    refusedLine: 'failed requests',
    value: (count: number, share: string) => `${formatCount(count)} · ${share}`,
    none: (range: StatRange) => `No errors in ${rangeNames[range]}.`,
    summary: (failed: number, refused: number, range: StatRange) =>
      `${pluralize(failed, 'failed task')} and ${pluralize(refused, 'failed request')} in ${rangeNames[range]}.`,
  },
  times: {
    title: 'Response time',
    medianLine: 'p50',
    upperLine: 'p95',
    value: (half: string, most: string) => `p50 ${half} · p95 ${most}`,
    none: (range: StatRange) => `No messages in ${rangeNames[range]}.`,
    summary: (most: string, when: string) =>
      `Time to the response, or to the first event of a stream. p95 ${peak(most, when)}.`,
  },
  streams: {
    title: 'Open streams',
    line: 'open streams',
    value: (now: number) => `${formatCount(now)} now`,
    none: (range: StatRange) => `No open streams in ${rangeNames[range]}.`,
    summary: (most: number, when: string) => `${peak(formatCount(most), when).replace(/^a/, 'A')}.`,
  },
  tokens: {
    title: 'Tokens',
    inputLine: 'input',
    outputLine: 'output',
    value: (input: string, output: string) => `${input} in · ${output} out`,
    none: (range: StatRange) => `No tokens reported in ${rangeNames[range]}.`,
    summary: (input: number, output: number, range: StatRange) =>
      `${formatCount(input)} input and ${formatCount(output)} output tokens in ${rangeNames[range]}.`,
  },
  cost: {
    title: 'Cost',
    line: 'cost',
    none: (range: StatRange) => `No cost known in ${rangeNames[range]}.`,
    summary: (total: string, range: StatRange) => `${total} in ${rangeNames[range]}, by the configured prices.`,
  },
  table: {
    show: 'Show as table',
    label: (range: StatRange) => `Statistics of ${rangeNames[range]}`,
    time: 'Time',
    requests: 'Requests',
    errors: 'Errors',
    failed: 'Failed tasks',
    streams: 'Open streams',
    tokens: 'Tokens',
    cost: 'Cost',
  },
} as const
