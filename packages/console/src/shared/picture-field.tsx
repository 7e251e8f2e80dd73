import { uploadFile } from '@loquat/sdk'
import { useMutation } from '@tanstack/react-query'
import { useRef } from 'react'
import { Button } from './button.tsx'
import { Field } from './form.tsx'
import { manage, useAppId } from './manage.ts'
import { Problem } from './problem.tsx'

/** The URL of a picture, which can be uploaded here. */
export function PictureField(props: {
  label: string
  value: string
  onChange: (value: string) => void
}) {
  const { files } = manage.app(useAppId())
  const input = useRef<HTMLInputElement>(null)
  const upload = useMutation({
    mutationFn: (file: File) => uploadFile(files, file, { picture: true }),
    onSuccess: ({ url }) => props.onChange(url),
  })
  const { isPending, error } = upload
  return (
    <>
      <Field
        {...props}
        hint="URL of an image, or upload one. It's cropped to a square, and everyone with its URL can see it."
        required={false}
      />
      <div>
        <input
          ref={input}
          type="file"
          accept="image/*"
          hidden
          aria-label={`Image for ${props.label.toLowerCase()}`}
          onChange={({ target }) => {
            const [file] = target.files ?? []
            if (file) upload.mutate(file)
            target.value = ''
          }}
        />
        <Button isDisabled={isPending} onPress={() => input.current?.click()}>
          {isPending ? 'Uploading…' : 'Upload image'}
        </Button>
      </div>
      <Problem error={error} />
    </>
  )
}
