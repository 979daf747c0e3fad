/** Words for the states and times of tasks, wherever tasks are shown. */
export const taskStateWords: Readonly<Record<string, string>> = {
  SUBMITTED: 'Submitted',
  WORKING: 'Working',
  INPUT_REQUIRED: 'Needs input',
  AUTH_REQUIRED: 'Needs sign-in',
  COMPLETED: 'Completed',
  FAILED: 'Failed',
  CANCELED: 'Canceled',
  REJECTED: 'Rejected',
}

export const taskTimeStrings = {
  none: '—',
  waiting: (duration: string) => `${duration} waiting`,
  working: (duration: string) => `${duration} working`,
  exact: (working: string, waiting: string, total: string) =>
    `Working ${working}, waiting for input or sign-in ${waiting}, total ${total}`,
} as const
