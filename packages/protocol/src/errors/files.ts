import type { ErrorDefinition } from './definition.ts'

export const fileErrors = {
  ERR_FILES_NOT_CONFIGURED: {
    status: 403,
    retry: false,
    message: "This installation doesn't store files. Attach URLs of another host.",
    when: 'The installation has neither a folder nor a bucket for files.',
  },
  ERR_FILE_NOT_FOUND: {
    status: 404,
    retry: false,
    message: 'There is no file with id "{id}".',
    when: "The app has no such file, it isn't ready, or the acting user neither uploaded it nor can read a message that refers to it.",
  },
  ERR_FILE_NOT_UPLOADED: {
    status: 409,
    retry: false,
    message: 'Parts of the file are missing. Upload them, then complete the file.',
    when: 'A part was not uploaded, or has another size. `details` has the numbers of these parts.',
  },
  ERR_FILE_NOT_READY: {
    status: 409,
    retry: true,
    message: 'The file "{id}" is {status}. Wait until it is ready.',
    when: "A message, user or group refers to a file whose upload or check isn't over, or that was rejected.",
  },
  ERR_FILE_NOT_PICTURE: {
    status: 400,
    retry: false,
    message: 'The file "{id}" was not uploaded as a picture. Upload it with `picture`.',
    when: 'A user or group refers to a file that was created without `picture`.',
  },
  ERR_FILE_REJECTED: {
    status: 400,
    retry: false,
    message: 'The file was rejected: {reason}.',
    when: 'The check of a file that came with a message refused it. `docs/file-inspection.md` lists the reasons.',
  },
  ERR_FILE_IN_USE: {
    status: 409,
    retry: false,
    message: 'A message, user or group refers to this file. Change or delete that first.',
    when: 'The file to delete is part of a message, or the picture of a user or group.',
  },
  ERR_FILE_TOO_LARGE: {
    status: 413,
    retry: false,
    message: 'A file can have at most {limit} bytes.',
    when: 'The file is larger than the setting `limits.fileBytes`.',
  },
  ERR_STORAGE_FULL: {
    status: 403,
    retry: false,
    message: 'The files of the app may take at most {limit} bytes.',
    when: 'With this file, the app would store more than the setting `limits.storageBytes`.',
  },
} as const satisfies Record<string, ErrorDefinition>
