/** A mail server doesn't answer. Whether it has accepted the email is unknown. */
export class NoAnswer extends Error {}
