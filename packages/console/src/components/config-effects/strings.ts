/** The words for the effects of a configuration change: a word for the badge, and the rest of the sentence. */
export const configEffectStrings = {
  added: ['added', 'can be called immediately.'],
  changed: ['changed', 'new messages use the new settings. Running tasks finish with the old ones.'],
  removed: ['removed', 'new messages are rejected. Running tasks finish, and tasks are kept.'],
  applied: ['now', 'takes effect immediately.'],
  restart: ['restart', 'takes effect after the hub restarts.'],
  none: ['none', 'No effect: only comments or formatting changed.'],
} as const
