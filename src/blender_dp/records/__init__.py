"""Records, their canonical form, the head list and the parameters. Standard library only: devices use it too."""
