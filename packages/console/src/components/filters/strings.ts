/** The words of filter bars. */
export const filterStrings = {
  agent: 'Agent',
  time: 'Time',
  from: 'From',
  to: 'To',
  remove: (name: string, value: string) => `${name} ${value}: remove filter`,
  clear: 'Clear filters',
  presets: {
    '': 'Any time',
    '15m': 'Last 15 min',
    '1h': 'Last hour',
    '1d': 'Last day',
    '7d': 'Last 7 days',
    custom: 'Custom range',
  },
} as const
