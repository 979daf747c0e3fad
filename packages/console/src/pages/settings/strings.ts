/** The words of the frame of Settings. Each section has its own file. */
export const settingsStrings = {
  title: 'Settings',
  sections: 'Settings sections',
  health: 'Health',
  config: 'Config',
  edited: (section: string) => `${section} (edited)`,
  secrets: 'Secrets',
  keys: 'Keys',
  sessions: 'Sessions',
  audit: 'Audit',
  about: 'About',
  unknown: 'Page not found',
  openHealth: 'Open Health',
} as const
