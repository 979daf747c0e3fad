/** Fails with an error message that contains a secret. */
export const agent = (): never => {
  throw new Error('refused by https://user:hunter2hunter2@db.internal with Bearer abcdefghijklmnop')
}
