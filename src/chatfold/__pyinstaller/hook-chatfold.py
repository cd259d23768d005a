"""What a frozen program needs of chatfold beside its modules: the words that a model reads."""

from chatfold.template_files import prompt_directory

datas = [(str(prompt_directory()), "chatfold/prompts")]  # PyInstaller looks for this name
