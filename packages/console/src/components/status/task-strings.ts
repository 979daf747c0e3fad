/** Words for the states and times of tasks, wherever tasks are shown. */
export const taskTimeStrings = {
  none: '—',
  waiting: (duration: string) => `${duration} waiting`,
  working: (duration: string) => `${duration} working`,
  exact: (working: string, waiting: string, total: string) =>
    `Working ${working}, waiting for input or sign-in ${waiting}, total ${total}`,
} as const
